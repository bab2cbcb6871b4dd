"""Data as Python has them."""

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import babelquake as bq

ROWS = {"source": ["Ja.", "Nein.", None], "reference": ["Yes.", "No.", "Well."], "score": [90.0, None, 3.0]}


class Missing(float):
    """What pandas puts where nothing is."""


class Frame:
    """As much of a table of pandas as is asked of it, for where that is not installed."""

    def __init__(self, cells: dict[str, list[Any]]) -> None:
        self.cells = {name: [Missing("nan") if cell is None else cell for cell in some] for name, some in cells.items()}
        self.columns = list(cells)

    def notna(self) -> dict[str, list[bool]]:
        return {name: [not isinstance(cell, Missing) for cell in some] for name, some in self.cells.items()}

    def astype(self, kind: type) -> "Frame":
        return self

    def where(self, there: dict[str, list[bool]], other: None) -> "Frame":
        for name, some in self.cells.items():
            self.cells[name] = [cell if kept else other for cell, kept in zip(some, there[name], strict=True)]
        return self

    def __getitem__(self, name: str) -> "Column":
        return Column(self.cells[name])


class Column(list[Any]):
    def tolist(self) -> list[Any]:
        return list(self)


def in_pandas(cells: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("pandas").DataFrame(cells)


@pytest.mark.parametrize("table", [pl.DataFrame, Frame, in_pandas], ids=["polars", "like pandas", "pandas"])
def test_tables(table: Callable[[dict[str, list[Any]]], Any]) -> None:
    found = bq.dataset(table(ROWS)).segments
    assert found["source"].to_list() == ROWS["source"] and found["score"].to_list() == ROWS["score"]
    assert found["references"].to_list() == [["Yes."], ["No."], ["Well."]]


def test_pairs_and_mappings() -> None:
    pairs = list(zip(ROWS["source"], ROWS["reference"], strict=True))[:2]
    mappings = [{"source": source, "reference": reference} for source, reference in pairs]
    assert bq.dataset(pairs).segments.equals(bq.dataset(mappings).segments)


@pytest.mark.parametrize("wrong", [None, 3, [("a",)]])
def test_what_is_no_data_is_told_what_is(wrong: Any) -> None:
    with pytest.raises(bq.UserError, match="data must be a path or name, a table of polars"):
        bq.dataset(wrong)


def test_read_names_what_takes_lists() -> None:
    with pytest.raises(bq.UserError, match="read takes names and paths, not tuple: dataset takes tables and lists"):
        bq.read([("Ja.", "Yes.")])  # type: ignore[list-item]


def test_columns_by_name() -> None:
    assert bq.dataset(ROWS).segments.equals(bq.dataset(pl.DataFrame(ROWS)).segments)
    with pytest.raises(bq.UserError, match="lists of equal length"):
        bq.dataset({"source": ["Ja.", "Nein."], "reference": ["Yes.", "No.", "Well."]})


def test_sentences_are_no_files() -> None:
    texts = ["Das ist ein Satz.", "Das ist " + "ein sehr " * 500 + "langer."]
    assert bq.dataset(texts).segments["source"].to_list() == texts
    with pytest.raises(bq.UserError, match="does not exist"):
        bq.dataset(["news.tsv", "Das ist ein Satz."])


def test_short_sentences_are_sentences_too() -> None:
    for texts in (pl.Series(["Ja.", "Nein."]), ["Ja.", "Das ist ein Satz."], ["", "Das ist ein Satz."]):
        assert bq.dataset(texts).segments["source"].fill_null("").to_list() == list(texts)


@pytest.mark.parametrize("empty", [[], (), pl.Series([], dtype=pl.String)])
def test_empty_data_are_called_empty(empty: Any) -> None:
    with pytest.raises(bq.UserError, match="data is empty"):
        bq.dataset(empty)
