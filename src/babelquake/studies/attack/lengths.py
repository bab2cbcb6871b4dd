"""Are over-penalised translations shorter? (Huang 2023 Figure 3)"""

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from babelquake.randomness import Stream
from babelquake.runs.measures import Measure
from babelquake.stats.ranks import can_separate, rank_sum
from babelquake.studies.attack import kinds
from babelquake.text import words

TOP = 500
"""Translations on which humans and metrics disagree most."""
ALL, ELIGIBLE, DISAGREE = "all", "eligible", "top disagreement"


def length_measures(
    attacks: pl.DataFrame, by: str | None, disagreement: pl.DataFrame | None, seed: int, top: int = TOP
) -> Iterator[Measure]:
    """Mean length in words of three sets, and one-sided rank-sum tests of the last against the others.

    (1) all attacked translations, subsampled to be balanced over the column `by`; (2) those that gave eligible
    perturbations; (3) the `top` on which human and metric degradation differ most, where there are human ratings, else
    those with the largest gain. A translation attacked several times counts once in (1), once per perturbation in (2).
    """
    sets = {ALL: _lengths(_balanced(attacks, by, seed)), ELIGIBLE: _lengths(attacks.filter("success"))}
    ranked = disagreement if disagreement is not None else attacks.filter("success").with_columns(gap=pl.col("gain"))
    last = DISAGREE if disagreement is not None else "top gain"
    most = min(top, ranked.height // 2 or 1)
    sets[last] = _lengths(ranked.sort("gap", "tuple", descending=[True, False]).head(most))
    for name, lengths in sets.items():
        if len(lengths):
            spread = float(np.std(lengths, ddof=1)) if len(lengths) > 1 else None
            yield Measure(kinds.LENGTH, float(lengths.mean()), n=len(lengths), sd=spread, group=name)
    for name in (ALL, ELIGIBLE):
        if len(sets[last]) and len(sets[name]):
            test = rank_sum(sets[last], sets[name], "less")
            yield Measure(
                kinds.SHORTER,
                float(sets[last].mean() - sets[name].mean()),
                n=len(sets[last]),
                group=last,
                other=name,
                p=test.p,
                testable=can_separate(len(sets[last]), len(sets[name])),
                family=("length",),
            )


def _balanced(attacks: pl.DataFrame, by: str | None, seed: int) -> pl.DataFrame:
    """Every attacked translation once, as many of each value of `by` as the rarest has."""
    once = attacks.unique("row", maintain_order=True)
    if by is None or once.is_empty():
        return once
    parts = [part for _, part in once.group_by(by, maintain_order=True)]
    size = min(part.height for part in parts)
    drawn = [part[Stream(seed, "lengths", part[by][0]).sample(part.height, size)] for part in parts]
    return pl.concat(drawn)


def _lengths(table: pl.DataFrame) -> NDArray[np.float64]:
    return np.array([len(words(text)) for text in table["original"]], dtype=np.float64)
