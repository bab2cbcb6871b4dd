"""Rates of failures as cells, so that two runs of `mt` or `check` are compared in pairs, as everything else is.

One cell per language pair, system and kind: the rate among clean translations and, where sources were perturbed, the
rate over all perturbations together. Kinds that were looked for and do not occur have cells too: the other run may
have them.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl

from babelquake.runs.run import Run
from babelquake.scorers.base import Array
from babelquake.stats.bootstrap import Function
from babelquake.stats.resampling import Keys
from babelquake.stats.units import by_unit
from babelquake.studies.cells import Cell, Place

ANY = "any"


def failure_cells(
    run: Run, translations: pl.DataFrame, failures: pl.DataFrame, resamples: int, seed: int
) -> Iterator[Cell]:
    """The cells of a run.

    `translations` have the columns `language_pair`, `system`, `perturbation`, `key` (what is resampled) and `place`;
    `failures` have `place` and `kind`.
    """
    looked = run.measures.filter(measure="failures")
    flagged = failures.select("place", "kind").unique()
    flagged = pl.concat([flagged, flagged.select("place", kind=pl.lit(ANY)).unique()])
    by_kind = {str(kind): some["place"] for (kind,), some in flagged.group_by("kind")}
    for (pair, system), here in translations.group_by(["language_pair", "system"], maintain_order=True):
        kinds = looked.filter(pl.col("language_pair").eq_missing(pl.lit(pair)))["scorer"].unique(maintain_order=True)
        clean = here.filter(pl.col("perturbation").is_null())
        noisy = here.filter(pl.col("perturbation").is_not_null())
        units = np.unique(clean["key"].to_numpy())
        for kind in kinds:
            flags = by_kind.get(kind, pl.Series("place", [], here["place"].dtype))
            tables = [_counts(side, flags, units) for side in (clean, noisy) if side.height]
            place = Place(None if pair is None else str(pair), kind, system=None if system is None else str(system))
            cell = Cell(place, units, clean.height)
            names = ("failures", "failures_perturbed")[: len(tables)]
            cell.compute({name: _rate_of(number) for number, name in enumerate(names)}, tables, resamples, seed)
            cell.sides.clear()
            yield cell


def _counts(translations: pl.DataFrame, flags: pl.Series, units: Keys) -> Array:
    """Per unit how many translations have the failure, times 100, and how many there are."""
    marked = translations["place"].is_in(flags.implode()).cast(pl.Float64).to_numpy()
    own, rows = by_unit(translations["key"].to_numpy(), np.column_stack([100 * marked, np.ones(len(marked))]))
    found = np.zeros((len(units), 2))
    places = np.searchsorted(units, own)
    there = (places < len(units)) & (units[np.minimum(places, len(units) - 1)] == own)
    found[places[there]] = rows[there]
    return found


def _rate_of(number: int) -> Function:
    """The rate from the sums of one of the tables."""
    return lambda *sums: np.asarray(sums[number][..., 0] / sums[number][..., 1])
