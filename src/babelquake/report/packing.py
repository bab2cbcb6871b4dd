"""Columns in little space: distinct strings numbered, facets as numbers into short lists."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from babelquake.report.results import scorer_text

Facets = Sequence[tuple[str, str]]
"""What examples are filtered by: column, label."""


class Packed:
    """Examples as the page's script reads them: texts that changed, texts beside them, facets, damage."""

    def __init__(self, table: pl.DataFrame) -> None:
        self.table = table
        self._strings: dict[str, int] = {}
        self._texts: list[dict[str, Any]] = []

    def changed(self, label: str, was: str, now: str) -> None:
        """A text before and after, by the names of their columns."""
        self._texts.append({"label": label, "was": self._numbers(was), "now": self._numbers(now)})

    def beside(self, label: str, column: str, **more: Any) -> None:
        """A text that did not change, where any example has it."""
        if column in self.table.columns and self.table[column].null_count() < self.table.height:
            self._texts.append({"label": label, "plain": self._numbers(column), **more})

    def columns(self, unit: str, wanted: Facets, numbers: Sequence[str] = ("drop",)) -> dict[str, Any]:
        """Everything together; `unit` says what the damage is, `numbers` are columns that are shown beside it."""
        return {
            "unit": unit,
            **{name: _rounded(self.table[name]) for name in numbers},
            "facets": [_facet(self.table[column], label) for column, label in wanted],
            "texts": self._texts,
            "strings": list(self._strings),
            "ids": self.table["id"].to_list(),
        }

    def _numbers(self, column: str) -> list[int]:
        return _numbered(self.table[column], self._strings)


def with_scorers_shown(table: pl.DataFrame) -> pl.DataFrame:
    """Scorers as the field writes them."""
    scorers = table["scorer"].unique().to_list()
    return table.with_columns(pl.col("scorer").replace({name: scorer_text(name, scorers) for name in scorers}))


def _facet(column: pl.Series, label: str) -> dict[str, Any]:
    """A column to filter by, as numbers into its own short list."""
    known: dict[str, int] = {}
    numbers = _numbered(column, known)
    return {"key": column.name, "label": label, "values": list(known), "column": numbers}


def _numbered(texts: pl.Series, known: dict[str, int]) -> list[int]:
    """Numbers of strings in order of appearance; None is −1."""
    return [-1 if text is None else known.setdefault(text, len(known)) for text in texts]


def _rounded(column: pl.Series) -> list[float | None]:
    """Four significant digits are enough to sort and to show."""
    return [None if value is None or value != value else float(f"{value:.4g}") for value in column]
