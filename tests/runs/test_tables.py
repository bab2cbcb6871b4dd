"""Tables read a piece at a time say what they say as a whole."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babelquake.runs import tables as module
from babelquake.runs.tables import Part, counted, list_column, pieces, rows_of, same

NAMES = st.sampled_from([None, "misspell", "case"])


@settings(max_examples=60, deadline=None)
@given(names=st.lists(NAMES, max_size=40), wanted=NAMES, together=st.integers(1, 12))
def test_a_part_is_what_a_filter_finds(names: list[str | None], wanted: str | None, together: int) -> None:
    rows = np.arange(2.0 * len(names)).reshape(len(names), 2)
    table = pl.DataFrame({"row": range(len(names)), "perturbation": pl.Series(names, dtype=pl.String)})
    table = table.with_columns(statistics=list_column(rows)) if names else table.with_columns(statistics=pl.lit(None))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROWS_TOGETHER", together)
        part = Part(table.lazy(), same(perturbation=wanted), ["row"])
        found = part.statistics("statistics")
    expected = table.filter(pl.col("perturbation").eq_missing(pl.lit(wanted, pl.String)))
    assert part.index["row"].to_list() == expected["row"].to_list()
    assert np.array_equal(found, rows_of(expected["statistics"]) if expected.height else np.zeros((0, 0)))


@settings(max_examples=60, deadline=None)
@given(names=st.lists(NAMES, max_size=40), together=st.integers(1, 12))
def test_counts_over_pieces_are_those_of_the_whole_in_its_order(names: list[str | None], together: int) -> None:
    table = pl.DataFrame({"name": pl.Series(names, dtype=pl.String), "level": [n % 2 for n in range(len(names))]})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROWS_TOGETHER", together)
        found = counted(table.lazy(), pl.col("level") == 0, ["name"])
    whole = table.filter(pl.col("level") == 0).group_by("name", maintain_order=True).len()
    assert found.rows() == whole.rows()


def test_no_more_than_a_piece_is_read_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROWS_TOGETHER", 100)
    pl.DataFrame({"row": range(1000)}).write_parquet(tmp_path / "t.parquet", row_group_size=100)
    read = [piece.height for piece in pieces(pl.scan_parquet(tmp_path / "t.parquet"), pl.col("row") >= 50, ["row"])]
    assert read == [50] + [100] * 9
    inside = pieces(pl.scan_parquet(tmp_path / "t.parquet"), pl.lit(True), ["row"], 250, 420)
    assert [piece["row"][0] for piece in inside] == [250, 350]


def test_a_value_and_none_are_told_apart() -> None:
    table = pl.DataFrame({"level": [None, 0.1, 0.2], "system": ["a", None, "a"]})
    assert table.filter(same(level=None)).height == 1
    assert table.filter(same(level=0.2, system="a")).height == 1
    assert table.filter(same(level=0.1, system=None)).height == 1
