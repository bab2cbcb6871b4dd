"""Rows of numbers go into tables and come back."""

import numpy as np
import polars as pl
import pytest

from babelquake.languages import sides
from babelquake.studies.columns import list_column, rows_of, summed_by_row


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (4, 3)])
def test_statistics_survive_a_table(shape: tuple[int, int]) -> None:
    rows = np.arange(shape[0] * shape[1], dtype=np.float64).reshape(shape)
    column = list_column(rows)
    assert column.dtype == pl.List(pl.Float64)
    assert rows_of(column).tolist() == rows.tolist()


def test_replicates_are_summed_in_order_of_segments() -> None:
    table = pl.DataFrame({"row": [2, 0, 2, 5], "s": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]})
    table = table.with_columns(pl.col("row").cast(pl.UInt32))
    assert summed_by_row(table, "s").tolist() == [[3, 4], [6, 8], [7, 8]]


def test_languages_of_a_pair() -> None:
    assert sides("de-en") == ("de", "en")
    assert sides(None) == (None, None)
    assert sides("de") == (None, None)
    assert sides("pt-BR-en") == ("pt-BR", "en")
