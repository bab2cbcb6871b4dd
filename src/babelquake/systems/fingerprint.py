"""What a command's files hold, in one short hash: a changed script, model or folder is another system.

Every argument that is an existing file or folder counts, also behind `--option=`. A file counts by its content; one
over `WHOLE` bytes by size, time of change, head and tail. A folder counts by the names and contents in it, hidden files
and `__pycache__` aside; past `FOLDER` bytes its files count by size and time of change.

The program itself counts by its content where it is given by path. One found on the PATH counts by its name, so that
`cat` is the same system on every machine – unless it is a script: its text after the `#!` line counts too.
"""

import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from babelquake.text import digest

WHOLE = 1 << 24
"""Bytes up to which a file is read from start to end."""
END = 1 << 20
"""Bytes of head and tail that are read of a larger one."""
FOLDER = 1 << 26
"""Bytes of a folder's files that are read."""
FILES = 10_000
"""Files of a folder that are looked at."""


def fingerprint(argv: Sequence[str]) -> str | None:
    """A hash of everything a command names that exists; None where it names nothing."""
    named = [part.partition("=")[2] if part.startswith("-") else part for part in argv[1:]]
    parts = [_program(argv[0]), *(_content(Path(part)) for part in named if part)]
    found = [part for part in parts if part]
    return digest(found) if found else None


def _program(name: str) -> str | None:
    if "/" in name or os.sep in name:
        return _content(Path(name))
    found = shutil.which(name)
    if found is None:
        return None
    try:
        with Path(found).open("rb") as stream:
            is_script = stream.readline(WHOLE).startswith(b"#!")
            return _hash(stream.read(WHOLE)) if is_script else None
    except OSError:
        return None


def _content(path: Path) -> str | None:
    try:
        if path.is_dir():
            return digest(_folder(path))
        return _file(path) if path.is_file() else None
    except (OSError, ValueError):
        return None


def _file(path: Path) -> str:
    size = path.stat().st_size
    with path.open("rb") as stream:
        if size <= WHOLE:
            return _hash(stream.read())
        head = stream.read(END)
        stream.seek(-END, os.SEEK_END)
        return f"{_outside(path)} {_hash(head + stream.read())}"


def _folder(folder: Path) -> Iterator[str]:
    """Names and contents in the order of names; links are followed to files only, so no folder is met twice."""
    room, seen = FOLDER, 0
    for where, inner, names in os.walk(folder):
        inner[:] = sorted(name for name in inner if not name.startswith(".") and name != "__pycache__")
        for name in sorted(names):
            path = Path(where, name)
            if name.startswith(".") or not path.is_file():
                continue
            seen += 1
            if seen > FILES:
                return
            room -= min(path.stat().st_size, WHOLE)
            yield path.relative_to(folder).as_posix()
            yield _file(path) if room >= 0 else _outside(path)


def _outside(path: Path) -> str:
    state = path.stat()
    return f"{state.st_size} {state.st_mtime_ns}"


def _hash(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
