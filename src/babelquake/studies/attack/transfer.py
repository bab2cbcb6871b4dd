"""Do perturbations found against one metric fool another?"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from babelquake.attacks.goal import Goal
from babelquake.runs.measures import Measure
from babelquake.stats.intervals import wilson
from babelquake.studies.attack import kinds


def transfer_table(attacks: pl.DataFrame, scored: pl.DataFrame, goal: Goal) -> pl.DataFrame:
    """Every eligible perturbation under every victim: normalised scores before and after, and whether it too is fooled.

    `scored` has, per tuple and other victim, the normalised scores `before` and `after`, and whether that victim finds
    both texts as alike as the goal wants (`alike`). Each victim is measured by its own scale, so one threshold serves
    all.
    """
    gains = [goal.gain(before, after) for before, after in scored.select("before", "after").iter_rows()]
    found = attacks.filter("success").select("tuple", "victim", "recipe")
    met = [goal.met(gain) for gain in gains]
    judged = scored.with_columns(
        gain=pl.Series(gains, dtype=pl.Float64), met=pl.Series(met, dtype=pl.Boolean) & pl.col("alike")
    )
    return found.join(judged, on="tuple", how="inner", maintain_order="left")


def transfer_measures(transfers: pl.DataFrame) -> Iterator[Measure]:
    """Per pair of victims, all recipes together and each alone: the share that fools the other, and the mean drop."""
    for keys in (("victim", "other"), ("victim", "other", "recipe")):
        for values, part in transfers.group_by(keys, maintain_order=True):
            victim, other, *recipe = map(str, values)
            fooled = int(part["met"].sum())
            low, high = wilson(fooled, part.height)
            about: dict[str, Any] = {"scorer": victim, "other": other, "perturbation": recipe[0] if recipe else None}
            yield Measure(
                kinds.TRANSFER,
                100.0 * fooled / part.height,
                n=part.height,
                changed=fooled,
                low=100 * low,
                high=100 * high,
                **about,
            )
            gains = part["gain"].to_numpy()
            gains = gains[np.isfinite(gains)]
            yield Measure(kinds.TRANSFER_DROP, float(gains.mean()) if gains.size else None, n=gains.size, **about)
