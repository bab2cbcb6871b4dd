"""Rows of numbers go into tables and come back."""

import numpy as np
import polars as pl
import pytest

from babelquake.languages import sides
from babelquake.runs.tables import list_column, rows_of


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (4, 3)])
def test_statistics_survive_a_table(shape: tuple[int, int]) -> None:
    rows = np.arange(shape[0] * shape[1], dtype=np.float64).reshape(shape)
    column = list_column(rows)
    assert column.dtype == pl.List(pl.Float64)
    assert rows_of(column).tolist() == rows.tolist()


def test_languages_of_a_pair() -> None:
    assert sides("de-en") == ("de", "en")
    assert sides(None) == (None, None)
    assert sides("de") == (None, None)
    assert sides("pt-BR-en") == ("pt-BR", "en")
