"""How many translations change too much: sentence-level chrF(Y′, Y) below 75 (Jwalapuram 2023 §4.1), in per cent."""

import numpy as np
import polars as pl

from babelquake.runs.chunks import counted, same
from babelquake.runs.measures import Kind, Measure
from babelquake.stats.bootstrap import bootstrap, ratio_of
from babelquake.stats.resampling import Keys
from babelquake.stats.units import by_unit
from babelquake.studies.kinds import over_changed
from babelquake.studies.mt import kinds
from babelquake.studies.slices import Slices
from babelquake.studies.tests_to_measures import measured

GROUPS = ["language_pair", "system", "perturbation", "level"]


def inconsistency(
    translations: pl.LazyFrame,
    told: pl.Expr,
    keys: Keys,
    threshold: float,
    resamples: int,
    seed: int,
    slices: Slices | None = None,
) -> list[Measure]:
    """The share over all texts, and over those that the perturbation really changed where that is not all of them.

    `told` says which rows count; of `slices`, the share over all texts of each.
    """
    listed = counted(translations, told & pl.col("perturbation").is_not_null(), GROUPS)
    measures = []
    for place in listed.select(GROUPS).iter_rows(named=True):
        part = translations.filter(told & same(**place)).select("row", "consistency", "changed").collect()
        some = part.filter(pl.col("changed"))
        count = some["row"].n_unique()
        found: list[tuple[Kind, str | None, pl.DataFrame]] = [(kinds.INCONSISTENT, None, part)]
        if 0 < some.height < part.height:
            found.append((over_changed(kinds.INCONSISTENT), None, some))
        found += [
            (kinds.INCONSISTENT, name, part.filter(pl.col("row").is_in(pl.Series(rows).implode())))
            for name, rows in (slices or {}).items()
        ]
        for kind, group, here in found:
            if here.is_empty():
                continue
            below = 100.0 * (here["consistency"] < threshold).to_numpy()
            units, rows = by_unit(keys[here["row"].to_numpy()], np.stack([below, np.ones_like(below)], axis=1))
            drawn = bootstrap(ratio_of(0, 1), [rows], resamples, seed, units)
            n = here["row"].n_unique()
            told_of = {"scorer": "chrf", "changed": count if group is None else n, "group": group, **place}
            measures.append(measured(kind, drawn, n, **told_of))
    return measures
