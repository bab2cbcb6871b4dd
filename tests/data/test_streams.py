"""Text files as people have them: compressed, with byte-order marks, from Windows, or broken."""

import bz2
import gzip
import io
import lzma
import sys
import tracemalloc
from pathlib import Path

import pytest

from babelquake.data import lines
from babelquake.errors import UserError


def test_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes("eins\u2028zwei\x85drei\rvier\nfünf".encode())
    assert list(lines(file)) == ["eins\u2028zwei\x85drei\rvier", "fünf"]


def test_windows_ends_and_a_byte_order_mark_are_dropped_and_said(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"\xef\xbb\xbfeins\r\nzwei\r\n")
    notes: list[str] = []
    assert list(lines(file, notes)) == ["eins", "zwei"]
    assert "byte-order mark" in notes[0] and "2 lines ended in CR LF" in notes[1]


@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)])
def test_compressed_files_read_like_plain_ones(tmp_path: Path, ending: str, pack) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / f"a.txt{ending}"
    file.write_bytes(pack("Grüße\n\nда\n".encode()))
    assert list(lines(file)) == ["Grüße", "", "да"]


def test_a_torn_archive_is_named(tmp_path: Path) -> None:
    file = tmp_path / "a.txt.gz"
    file.write_bytes(gzip.compress(b"hello\n" * 1000)[:-10])
    with pytest.raises(UserError, match=r"a\.txt\.gz cannot be read"):
        list(lines(file))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"g\xc3\xbct\nsch\xf6n\n", r"a\.txt line 2: byte 4 \(0xf6\) is not UTF-8"),
        (b"gut\n\nno\0body\n", r"a\.txt line 3: a NUL byte"),
    ],
)
def test_bytes_that_are_no_text_are_located(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(UserError, match=message):
        list(lines(tmp_path / "a.txt"))


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xc3\xa9\ntwo\xff\n")))
    stream = lines("-")
    assert next(stream) == "é"
    with pytest.raises(UserError, match="standard input line 2"):
        next(stream)


def test_a_missing_file_is_told_with_what_is_there_instead(tmp_path: Path) -> None:
    (tmp_path / "news.txt").write_text("x\n")
    with pytest.raises(UserError, match=r"nwes\.txt does not exist\. Did you mean 'news\.txt'"):
        list(lines(tmp_path / "nwes.txt"))
    with pytest.raises(UserError, match="there is no folder"):
        list(lines(tmp_path / "nowhere" / "news.txt"))


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"a sentence of the usual length, more or less\n" * 100_000)
    tracemalloc.start()
    count = sum(1 for _ in lines(file))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 100_000 and peak < 1_000_000 < file.stat().st_size
