"""Statistics in tables: rows of numbers to and from columns of lists."""

import numpy as np
import polars as pl

from babelquake.scorers.base import Array


def list_column(statistics: Array) -> pl.Series:
    """Rows of numbers as a column of lists."""
    rows, width = statistics.shape
    return pl.Series(statistics.reshape(rows, width), dtype=pl.Array(pl.Float64, width)).cast(pl.List(pl.Float64))


def rows_of(column: pl.Series) -> Array:
    """A column of lists of equal length as rows of numbers."""
    if column.is_empty():
        return np.zeros((0, 0))
    return column.explode().to_numpy().reshape(len(column), -1)
