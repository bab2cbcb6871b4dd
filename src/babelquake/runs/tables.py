"""Tables of runs that may be too large for memory: made part by part or line by line, and read a piece at a time.

Parts lie in `.parts/TABLE/` until the whole table is joined. A part appears only when it is whole, so a run that is
killed loses only what is in flight and goes on at the part it was making. What a study needs of a table in memory grows
with one column, not with all. Statistics stand in tables as lists: `list_column` and `rows_of` turn rows of numbers
into such a column and back.
"""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from babelquake.files import ROWS_TOGETHER, replacing, store_table

FOLDER = ".parts"


class Parts:
    """The parts of one table of a run, each under its own name."""

    def __init__(self, run_folder: Path, table: str) -> None:
        self.table = table
        self.folder = run_folder / FOLDER / table
        self._joined = run_folder / f"{table}.parquet"

    def has(self, name: str) -> bool:
        """Whether a part is finished."""
        return self._file(name).exists()

    def store(self, name: str, part: pl.DataFrame) -> None:
        """Keep a finished part."""
        self.folder.mkdir(parents=True, exist_ok=True)
        store_table(part, self._file(name))

    def read(self, name: str) -> pl.DataFrame:
        """A finished part."""
        return pl.read_parquet(self._file(name), glob=False)

    def join(self, names: Sequence[str]) -> None:
        """Write the whole table, parts in this order."""
        if self._joined.exists():
            return
        with replacing(self._joined) as draft:
            scanned = [pl.scan_parquet(self._file(name), glob=False) for name in names]
            whole = pl.concat(scanned, how="vertical_relaxed")
            whole.sink_parquet(draft, compression="zstd", maintain_order=True, row_group_size=ROWS_TOGETHER)

    def discard(self) -> None:
        """Remove the parts; what is joined stays."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.parquet"


class Journal:
    """A file of JSON lines. What a kill cut off in the middle of a line is dropped; that piece is done again."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._open: IO[bytes] | None = None

    def read(self) -> list[dict[str, Any]]:
        """Every whole line; a torn last one is cut off the file."""
        if not self.file.exists():
            return []
        data = self.file.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            with self.file.open("r+b") as stream:
                stream.truncate(len(whole))
        return [json.loads(line) for line in whole.splitlines()]

    def __enter__(self) -> "Journal":
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self._open = self.file.open("ab")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._open is not None:
            os.fsync(self._open.fileno())
            self._open.close()
            self._open = None

    def write(self, row: dict[str, Any]) -> None:
        """Keep one row; it outlives this process from here on."""
        if self._open is None:
            raise ValueError("the journal is closed")
        self._open.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")
        self._open.flush()


Array = NDArray[np.float64]


def same(**values: Any) -> pl.Expr:
    """Whether columns have these values; None is a value too."""
    kinds = {str: pl.String, float: pl.Float64}
    return pl.all_horizontal(
        pl.col(name).is_null() if value is None else pl.col(name) == pl.lit(value, kinds.get(type(value)))
        for name, value in values.items()
    )


def pieces(
    table: pl.LazyFrame, where: pl.Expr, columns: Sequence[str], first: int = 0, last: int | None = None
) -> Iterator[pl.DataFrame]:
    """Columns of the rows that meet a condition, in order, a piece of the table (or of rows `first` … `last`) each."""
    stop = int(table.select(pl.len()).collect().item()) if last is None else last + 1
    for start in range(first, stop, ROWS_TOGETHER):
        piece = table.slice(start, min(ROWS_TOGETHER, stop - start))
        yield piece.filter(where).select(columns).collect()


def counted(table: pl.LazyFrame, where: pl.Expr, columns: Sequence[str]) -> pl.DataFrame:
    """What different values columns have in the rows that meet a condition, in order, and how often (`len`)."""
    parts = [piece.group_by(columns, maintain_order=True).len() for piece in pieces(table, where, columns)]
    none = table.select(columns).head(0).collect().with_columns(len=pl.lit(0, pl.UInt32))
    return pl.concat([none, *parts]).group_by(columns, maintain_order=True).sum()


class Part:
    """The rows of a table that meet a condition: `index` has some of their columns, others are read when asked for."""

    def __init__(self, table: pl.LazyFrame, where: pl.Expr, index: Sequence[str]) -> None:
        self._table, self._where = table, where
        found = table.with_row_index("at").filter(where).select("at", *index).collect()
        self.index = found.drop("at")
        self._first: int = found["at"][0] if found.height else 0
        self._last: int = found["at"][-1] if found.height else -1

    def statistics(self, column: str) -> Array:
        """A column of statistics as rows of numbers; those of a text that was not judged are 0 and add nothing."""
        rows: Array | None = None
        filled = 0
        for piece in pieces(self._table, self._where, [column], self._first, self._last):
            judged = filled + piece[column].is_not_null().arg_true().to_numpy()
            filled += piece.height
            if len(judged):
                found = rows_of(piece[column].drop_nulls())
                if rows is None:
                    rows = np.zeros((self.index.height, found.shape[1]))
                rows[judged] = found
        return np.zeros((0, 0)) if rows is None else rows


def list_column(statistics: Array) -> pl.Series:
    """Rows of numbers as a column of lists."""
    rows, width = statistics.shape
    return pl.Series(statistics.reshape(rows, width), dtype=pl.Array(pl.Float64, width)).cast(pl.List(pl.Float64))


def rows_of(column: pl.Series) -> Array:
    """A column of lists of equal length as rows of numbers."""
    if column.is_empty():
        return np.zeros((0, 0))
    return column.explode().to_numpy().reshape(len(column), -1)
