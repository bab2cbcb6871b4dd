"""Parquet tables, measured by their footer before anything of them is unpacked.

A few kilobytes of Parquet can hold gigabytes: pages are compressed, and a column of one repeated text is a dictionary
of one entry. What the footer says – rows, columns, unpacked bytes – is compared with the limits first; what repeated
texts come to is counted once the table is read and before a text of it is copied.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from babelquake.data.request import Request
from babelquake.data.streams import existing, whole_bytes
from babelquake.errors import UserError
from babelquake.limits import reading, require

MAGIC = b"PAR1"
ROWS, GROUPS = 3, 4
"""Fields of `FileMetaData` (parquet.thrift)."""
COLUMNS, META, VALUES, UNPACKED = 1, 3, 5, 6
"""The columns of a row group; the description of a column chunk; `num_values`, `total_uncompressed_size` in it."""


def parquet_frame(request: Request) -> pl.DataFrame:
    """The table in a Parquet file, which must have rows."""
    frame = bounded_table(existing(request.path), request.what)
    if frame.is_empty():
        raise UserError(f"{request.what} is empty: it has columns ({', '.join(frame.columns)}) but no rows.")
    return frame


def bounded_table(path: Path, what: str) -> pl.DataFrame:
    """The table in a Parquet file, if it is within the limits packed and unpacked; `what` names it in messages."""
    content = whole_bytes(path, "document")
    with reading(what, "a Parquet file"):
        values, unpacked = footer_sizes(content)
        require("values", values, what)
        require("document", unpacked, what)
        frame = pl.read_parquet(content)
        require("document", _bytes_of_texts(frame), what)
    return frame


def footer_sizes(content: bytes) -> tuple[int, int]:
    """How many values (those in lists one by one), and the bytes of all pages unpacked, by the file's own footer."""
    if len(content) < 12 or content[:4] != MAGIC or content[-4:] != MAGIC:
        raise ValueError("it does not begin and end as Parquet files do")
    length = int.from_bytes(content[-8:-4], "little")
    if length > len(content) - 12:
        raise ValueError("its footer is cut off")
    footer = _Compact(content[-8 - length : -8]).struct()
    groups = [list(group.get(COLUMNS, ())) for group in footer.get(GROUPS, ())]
    chunks = [chunk.get(META, {}) for group in groups for chunk in group]
    widest = max((len(group) for group in groups), default=0)
    values = max(int(footer[ROWS]) * widest, sum(int(chunk.get(VALUES, 0)) for chunk in chunks))
    return values, sum(int(chunk.get(UNPACKED, 0)) for chunk in chunks)


def _bytes_of_texts(frame: pl.DataFrame) -> int:
    """What the texts come to one by one; a text that many rows share is in memory once until it is copied."""
    counts = frame.select(pl.col(pl.String).str.len_bytes().cast(pl.Int64).sum())
    return sum(counts.row(0)) if counts.width else 0


class _Compact:
    """Thrift's compact protocol, in which footers are written: structs as dicts by field number."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def struct(self) -> Mapping[int, Any]:
        """A struct up to its end mark."""
        found: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            found[number] = self._value(head & 15)
        return found

    def _value(self, kind: int) -> Any:
        match kind:
            case 1 | 2:
                return kind == 1
            case 3:
                return self._byte()
            case 4 | 5 | 6:
                return self._signed()
            case 7:
                self._at += 8
                return None
            case 8:
                length = self._unsigned()  # moves on by itself
                self._at += length
                return None
            case 9 | 10:
                head = self._byte()
                size = head >> 4 if head >> 4 < 15 else self._unsigned()
                return [self._element(head & 15) for _ in range(size)]
            case 12:
                return self.struct()
        raise ValueError(f"its footer has a field of unknown kind {kind}")

    def _element(self, kind: int) -> Any:
        """Booleans are a byte each in a list, and nothing but the kind in a struct."""
        return self._byte() == 1 if kind in (1, 2) else self._value(kind)

    def _byte(self) -> int:
        if self._at >= len(self._content):
            raise ValueError("its footer is cut off")
        self._at += 1
        return self._content[self._at - 1]

    def _unsigned(self) -> int:
        found = shift = 0
        while (byte := self._byte()) & 128:
            found |= (byte & 127) << shift
            shift += 7
            if shift > 63:
                raise ValueError("its footer has a number without end")
        return found | byte << shift

    def _signed(self) -> int:
        found = self._unsigned()
        return (found >> 1) ^ -(found & 1)
