"""Tables of runs read a piece at a time: what a study needs of them in memory grows with one column, not with all.

Statistics stand in them as lists: `list_column` and `rows_of` turn rows of numbers into such a column and back.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from babelquake.files import ROWS_TOGETHER

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
