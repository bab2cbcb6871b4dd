"""Cells of a table of attacks: victims and recipes as they come, values of a column in their own order."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelquake.studies.attack.measures import UNNAMED, cells


@given(st.lists(st.tuples(st.sampled_from("vu"), st.sampled_from("rq"), st.integers(2009, 2024)), min_size=1))
def test_every_attack_is_in_one_cell_and_years_follow(rows: list[tuple[str, str, int]]) -> None:
    attacks = pl.DataFrame(rows, schema=["victim", "recipe", "year"], orient="row").with_row_index("row")
    whole, split = list(cells(attacks)), list(cells(attacks, "year"))
    assert [(cell.victim, cell.recipe) for cell in whole] == list(dict.fromkeys(row[:2] for row in rows))
    for cell in whole:
        parts = [part for part in split if (part.victim, part.recipe) == (cell.victim, cell.recipe)]
        assert [part.group for part in parts] == sorted({str(year) for year in cell.attacks["year"]})
        assert sorted(row for part in parts for row in part.attacks["row"]) == cell.attacks["row"].to_list()


@pytest.mark.parametrize("values", [["wmt22", "wmt12", None, "wmt17"], [22, 9, None, 12], ["b", "", " ", "a", None]])
def test_attacks_without_a_value_come_last(values: list[str | int | None]) -> None:
    attacks = pl.DataFrame({"victim": "v", "recipe": "r", "year": values})
    found = [cell.group for cell in cells(attacks, "year")]
    named = [value for value in values if str(value or "").strip()]
    assert found == [*map(str, sorted(named)), UNNAMED]  # type: ignore[type-var]
