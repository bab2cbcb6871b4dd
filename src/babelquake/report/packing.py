"""Columns in little space: distinct strings numbered, facets as numbers into short lists."""

from collections.abc import Sequence
from typing import Any

import polars as pl

Facets = Sequence[tuple[str, str]]
"""What examples are filtered by: column, label."""


class Strings:
    """Distinct strings, numbered in order of appearance; None is −1."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def numbers(self, texts: pl.Series) -> list[int]:
        """The numbers of a column of texts."""
        known = self.known
        return [-1 if text is None else known.setdefault(text, len(known)) for text in texts]


def facets(wanted: Facets, table: pl.DataFrame) -> list[dict[str, Any]]:
    """Columns to filter by, as numbers into their own short lists."""
    found = []
    for column, label in wanted:
        names = Strings()
        numbers = names.numbers(table[column])
        found.append({"key": column, "label": label, "values": list(names.known), "column": numbers})
    return found


def rounded(column: pl.Series) -> list[float | None]:
    """Four significant digits are enough to sort and to show."""
    return [None if value is None or value != value else float(f"{value:.4g}") for value in column]
