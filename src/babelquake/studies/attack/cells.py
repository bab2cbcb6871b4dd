"""Cells of a table of attacks: victims and recipes in the order of the run, values of a column in their own order."""

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

UNNAMED = "(none)"
"""The part of the data that has no value in the column: a blank would read as all of them."""


class Cell(NamedTuple):
    """Attacks of one recipe on one victim; all of them, or those of one value of a column."""

    victim: str
    recipe: str
    group: str | None
    attacks: pl.DataFrame


def cells(attacks: pl.DataFrame, by: str | None = None) -> Iterator[Cell]:
    """One cell per victim and recipe, or per value of `by` in each, smallest first: years stand as they follow.

    Attacks without a value come last, together with those whose value is blank.
    """
    for (victim, recipe), found in attacks.group_by("victim", "recipe", maintain_order=True):
        if by is None:
            yield Cell(str(victim), str(recipe), None, found)
            continue
        named = pl.when(pl.col(by).cast(pl.String).str.strip_chars() != "").then(by)
        ordered = found.sort(named, nulls_last=True, maintain_order=True)
        for (value,), part in ordered.group_by(named, maintain_order=True):
            yield Cell(str(victim), str(recipe), UNNAMED if value is None else str(value), part)
