"""Text files as streams of checked lines: plain or compressed, from disk or standard input."""

import bz2
import gzip
import io
import lzma
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from babelquake.errors import UserError, did_you_mean

COMPRESSIONS: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
STDIN = "-"
BUFFER = 2**18
BOM = b"\xef\xbb\xbf"


def lines(path: str | Path, notes: list[str] | None = None) -> Iterator[str]:
    """The lines of a file (`-`: standard input) without their ends, one at a time, so memory stays bounded.

    Only a line feed ends a line; a carriage return before it is dropped. A byte-order mark is dropped too; what was
    dropped is said in `notes`. Invalid UTF-8 and NUL bytes are errors that name file and line.
    """
    carriage_returns = 0
    for number, line in enumerate(_raw_lines(path), start=1):
        if number == 1 and line.startswith(BOM):
            line = line[len(BOM) :]
            _note(notes, f"{file_name(path)}: the byte-order mark at its start was dropped")
        if line.endswith(b"\n"):
            line = line[:-1]
            if line.endswith(b"\r"):
                line = line[:-1]
                carriage_returns += 1
        yield decoded(line, path, number)
    if carriage_returns:
        _note(notes, f"{file_name(path)}: {carriage_returns} lines ended in CR LF; the CR was dropped")


def whole_text(path: str | Path, notes: list[str] | None = None) -> str:
    """A whole file with its line ends kept, checked like `lines`; for formats whose cells may hold line ends."""
    pieces = []
    for number, line in enumerate(_raw_lines(path), start=1):
        if number == 1 and line.startswith(BOM):
            line = line[len(BOM) :]
            _note(notes, f"{file_name(path)}: the byte-order mark at its start was dropped")
        pieces.append(decoded(line, path, number))
    return "".join(pieces)


def decoded(line: bytes, path: str | Path, number: int) -> str:
    """One line as text, or an error that says where it is not UTF-8."""
    if b"\0" in line:
        raise UserError(f"{label(path)} line {number}: a NUL byte. Expected UTF-8 text, which has none.")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(
            f"{label(path)} line {number}: byte {error.start + 1} (0x{line[error.start]:02x}) is not UTF-8. "
            f"Convert the file first, for example: iconv -f ISO-8859-1 -t UTF-8."
        ) from None


def label(path: str | Path) -> str:
    """A file as errors call it: as the user wrote it."""
    return "standard input" if str(path) == STDIN else str(path)


def file_name(path: str | Path) -> str:
    """A file as notes call it: they go into runs and reports, which say nothing of this machine's folders."""
    return "standard input" if str(path) == STDIN else Path(path).name


def stem(path: str | Path) -> str:
    """A file's name without its compression and format endings: `news.de-en.tsv.gz` → `news.de-en`."""
    if str(path) == STDIN:
        return "stdin"
    name = Path(path).name
    if Path(name).suffix in COMPRESSIONS:
        name = name[: -len(Path(name).suffix)]
    return Path(name).stem if suffix(path) in FORMAT_ENDINGS else name


FORMAT_ENDINGS = frozenset({".tsv", ".csv", ".txt", ".jsonl", ".ndjson", ".json", ".parquet", ".tab"})


def suffix(path: str | Path) -> str:
    """The ending that tells the format, seen through compression: `a.tsv.gz` → `.tsv`."""
    given = Path(path)
    return (given.with_suffix("") if given.suffix in COMPRESSIONS else given).suffix.lower()


def existing(path: str | Path) -> Path:
    """The path, or an error that suggests what its folder has instead."""
    found = Path(path)
    if found.exists():
        return found
    folder = found.parent
    if not folder.is_dir():
        raise UserError(f"{found} does not exist: there is no folder {folder}.")
    siblings = [entry.name for entry in folder.iterdir() if not entry.name.startswith(".")]
    hint = did_you_mean(found.name, siblings)
    few = "Did you mean" in hint or len(siblings) <= 12
    raise UserError(
        f"{found} does not exist. {hint if few else f'Its folder has {len(siblings)} other entries.'}".strip()
    )


@contextmanager
def opened(path: str | Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, decompressed by its ending."""
    if str(path) == STDIN:
        yield sys.stdin.buffer
        return
    found = existing(path)
    if found.is_dir():
        raise UserError(f"{found} is a folder where a file is expected.")
    unpack = COMPRESSIONS.get(found.suffix)
    try:
        with io.BufferedReader(unpack(found, "rb"), BUFFER) if unpack else found.open("rb") as stream:
            yield stream
    except PermissionError:
        raise UserError(f"{found} may not be read: check its permissions.") from None


def _raw_lines(path: str | Path) -> Iterator[bytes]:
    with opened(path) as stream:
        try:
            yield from stream
        except (EOFError, gzip.BadGzipFile, lzma.LZMAError, OSError) as error:
            raise UserError(f"{label(path)} cannot be read: {error}.") from None


def _note(notes: list[str] | None, text: str) -> None:
    if notes is not None:
        notes.append(text)
