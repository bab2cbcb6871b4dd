"""The cells of a finished attack run: what comparisons of two runs in pairs need."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from babelquake.runs.run import Run
from babelquake.scorers import Scorer
from babelquake.scorers.base import Array
from babelquake.stats.resampling import Keys
from babelquake.studies.attack import kinds
from babelquake.studies.attack.campaign import of_data
from babelquake.studies.attack.cells import cells
from babelquake.studies.cells import Cell, Place
from babelquake.studies.segment_units import unit_keys

JUDGE = "chrf"
"""Who tells how far a translation has moved from the clean one."""


def stored_cells(run: Run, scorers: list[Scorer], resamples: int, seed: int) -> Iterator[Cell]:
    """Per victim and recipe, and per value of the column that tables are split by: the share of eligible ones."""
    attacks, by = run.table("attacks"), run.info.config.get("by")
    for victim, recipe, group, part in (*cells(attacks), *(cells(attacks, of_data(str(by))) if by else ())):
        keys, rows = _units(part)
        named = placed(run, {"scorer": victim, "system": None})
        cell = Cell(Place(None, perturbation=recipe, group=group, **named), keys, part.height)
        cell.compute({kinds.SUCCESS.name: _share}, [rows], resamples, seed)
        yield cell


def placed(run: Run, row: dict[str, Any]) -> dict[str, Any]:
    """A row of measures; where systems are attacked they are the victims, and chrF judges them."""
    return row | {"scorer": JUDGE, "system": row["scorer"]} if run.info.config.get("system") else row


def _units(attacks: pl.DataFrame) -> tuple[Keys, Array]:
    """The sentences behind the attacks, and of each how often it fell and how often it was attacked."""
    keys, places = np.unique(unit_keys(attacks), return_inverse=True)
    fell = np.bincount(places, attacks["success"].to_numpy(), len(keys))
    return keys, np.column_stack([fell, np.bincount(places, minlength=len(keys))])


def _share(sums: Array) -> Array:
    return np.asarray(100 * sums[..., 0] / sums[..., 1])
