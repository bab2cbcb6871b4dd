"""Text files as streams of checked lines: plain or compressed, from disk or standard input."""

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import IO, Any, AnyStr

from babelquake.errors import UserError, did_you_mean
from babelquake.limits import most, require, too_much

COMPRESSIONS: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
STDIN = "-"
LFS_POINTER = b"version https://git-lfs"
BUFFER = 2**18
BOM = b"\xef\xbb\xbf"


def lines(path: str | Path, notes: list[str] | None = None) -> Iterator[str]:
    """The lines of a file (`-`: standard input) without their ends, one at a time, so memory stays bounded.

    A line feed ends a line, or a carriage return where a file has no line feeds; a carriage return before a line feed
    is dropped. So is a byte-order mark; `notes` says what was dropped. UTF-16 is known by its mark; a file with
    other bytes than UTF-8's is taken for Windows-1252, and said to be, unless it has shown to be UTF-8 before. NUL
    bytes are errors that name file and line.
    """
    carriage_returns = 0
    for line in _decoded_lines(path, notes):
        if line.endswith("\n"):
            line = line[:-1]
            if line.endswith("\r"):
                line = line[:-1]
                carriage_returns += 1
        yield line
    if carriage_returns:
        _note(notes, f"{file_name(path)}: {carriage_returns} lines ended in CR LF; the CR was dropped")


def whole_text(path: str | Path, notes: list[str] | None = None) -> str:
    """A whole file with its line ends kept, checked like `lines`; for formats whose cells may hold line ends."""
    parts, size = [], 0
    for line in _decoded_lines(path, notes):
        size += len(line)
        require("document", size, label(path))
        parts.append(line)
    return "".join(parts)


def _decoded_lines(path: str | Path, notes: list[str] | None) -> Iterator[str]:
    """Lines as text with their ends."""
    reading = Encoding(path, notes)
    for number, line in enumerate(_raw_lines(path, notes), start=1):
        if number == 1 and line.startswith(BOM):
            line = line[len(BOM) :]
            _note(notes, f"{file_name(path)}: the byte-order mark at its start was dropped")
        yield reading.decoded(line, number)


class Encoding:
    """How a file's bytes are to be read: UTF-8 until a line says otherwise."""

    def __init__(self, path: str | Path, notes: list[str] | None) -> None:
        self.path, self.notes = path, notes
        self.name = "utf-8"
        self.seen = False
        """Whether a line had letters beyond ASCII, so that the file is known to be what it was read as."""

    def decoded(self, line: bytes, number: int) -> str:
        """One line as text, or an error that says where it cannot be read."""
        if b"\0" in line:
            raise UserError(f"{label(self.path)} line {number}: a NUL byte. Expected text.")
        try:
            text = line.decode(self.name)
        except UnicodeDecodeError as error:
            if self.seen or self.name != "utf-8" or _undefined(line):
                raise UserError(
                    f"{label(self.path)} line {number}: byte {error.start + 1} (0x{line[error.start]:02x}) is not "
                    f"UTF-8. Convert the file first, for example: iconv -f ISO-8859-1 -t UTF-8."
                ) from None
            self.name = "cp1252"
            _note(self.notes, f"{file_name(self.path)} is not UTF-8 (line {number}); it was read as Windows-1252")
            text = line.decode(self.name)
        self.seen = self.seen or not line.isascii()
        return text


def _undefined(line: bytes) -> bool:
    """Whether bytes stand for nothing in Windows-1252."""
    return any(byte in line for byte in (0x81, 0x8D, 0x8F, 0x90, 0x9D))


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


FORMAT_ENDINGS = frozenset(
    {
        *(".tsv", ".csv", ".txt", ".jsonl", ".ndjson", ".json", ".parquet", ".tab"),
        *(".tmx", ".xlf", ".xliff", ".sdlxliff", ".mxliff", ".xml", ".sgm", ".sgml", ".xlsx", ".xlsm"),
    }
)


def suffix(path: str | Path) -> str:
    """The ending that tells the format, seen through compression: `a.tsv.gz` → `.tsv`."""
    given = Path(path)
    return (given.with_suffix("") if given.suffix in COMPRESSIONS else given).suffix.lower()


def only_file(what: str | Path, *endings: str) -> Path:
    """What is named, or of a folder the only file with one of the endings."""
    path = Path(what)
    found = [file for file in path.iterdir() if suffix(file) in endings] if path.is_dir() else []
    return found[0] if len(found) == 1 else path


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
    if found.is_char_device() and not found.resolve().is_relative_to("/dev/pts"):
        raise UserError(f"{found} is a device where a file is expected.")
    unpack = COMPRESSIONS.get(found.suffix)
    try:
        with io.BufferedReader(unpack(found, "rb"), BUFFER) if unpack else found.open("rb") as stream:
            if not unpack and stream.peek(len(LFS_POINTER)).startswith(LFS_POINTER):
                raise UserError(f"{found} is a Git LFS pointer. Fetch the file itself: git lfs pull.")
            yield stream
    except PermissionError:
        raise UserError(f"{found} cannot be read. Check its permissions.") from None


def _raw_lines(path: str | Path, notes: list[str] | None = None) -> Iterator[bytes]:
    """Lines as bytes: UTF-16 turned into UTF-8, a carriage return taken for the line end where there is no other."""
    with opened(path) as stream:
        try:
            head = stream.peek(BUFFER)[:BUFFER] if hasattr(stream, "peek") else b""
            if head.startswith((b"\xff\xfe", b"\xfe\xff")):
                _note(notes, f"{file_name(path)} is UTF-16; it was read as such")
                text = io.TextIOWrapper(stream, "utf-16", newline="\n")
                yield from (line.encode() for line in _bounded(text, path))
            elif b"\r" in head and b"\n" not in head and head.count(b"\r") > 1:
                _note(notes, f"{file_name(path)}: lines end in CR alone")
                yield from (line + b"\n" for line in _between_returns(stream, path))
            else:
                yield from _bounded(stream, path)
        except (EOFError, gzip.BadGzipFile, lzma.LZMAError, OSError, zlib.error, UnicodeError) as error:
            raise UserError(f"{label(path)} cannot be read: {error}.") from None


def _bounded(stream: IO[AnyStr], path: str | Path) -> Iterator[AnyStr]:
    """The lines of a stream, as long as neither one of them nor all together are longer than the limits."""
    longest, left = most("line"), most("file")
    for number in count(1):
        line = stream.readline(longest + 1)
        if not line:
            return
        if len(line) > longest:
            raise too_much("line", f"{label(path)} line {number}")
        left -= len(line)
        if left < 0:
            raise too_much("file", label(path))
        yield line


def whole_bytes(path: str | Path, limit: str) -> bytes:
    """A whole file, unpacked, no longer than the limit of that name."""
    with opened(path) as stream:
        try:
            content = stream.read(most(limit) + 1)
        except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
            raise UserError(f"{label(path)} cannot be read: {error}.") from None
    require(limit, len(content), label(path))
    return content


def _between_returns(stream: IO[bytes], path: str | Path) -> Iterator[bytes]:
    rest = b""
    while block := stream.read(BUFFER):
        *whole, rest = (rest + block).split(b"\r")
        require("line", len(rest), f"a line of {label(path)}")
        yield from whole
    if rest:
        yield rest


def _note(notes: list[str] | None, text: str) -> None:
    if notes is not None:
        notes.append(text)
