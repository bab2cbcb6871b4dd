"""Cells of a table of attacks: victims and recipes in the order of the run, values of a column in their own order."""

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl


class Cell(NamedTuple):
    """Attacks of one recipe on one victim; all of them, or those of one value of a column."""

    victim: str
    recipe: str
    group: str | None
    attacks: pl.DataFrame


def cells(attacks: pl.DataFrame, by: str | None = None) -> Iterator[Cell]:
    """One cell per victim and recipe, or per value of `by` in each, smallest first: years stand as they follow."""
    for (victim, recipe), found in attacks.group_by("victim", "recipe", maintain_order=True):
        if by is None:
            yield Cell(str(victim), str(recipe), None, found)
            continue
        ordered = found.sort(by, nulls_last=True, maintain_order=True)
        for (value,), part in ordered.group_by(by, maintain_order=True):
            yield Cell(str(victim), str(recipe), str(value), part)
