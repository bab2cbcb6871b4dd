"""Agreement between people: Krippendorff's α, and correlation of every two raters."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from babelquake.stats.groups import Array, ratio


def krippendorff(units: ArrayLike, values: ArrayLike, level: Literal["interval", "nominal"] = "interval") -> float:
    """Krippendorff's α = 1 − D_o / D_e: observed disagreement within units over that expected by chance.

    `units` says what each of the `values` is a judgement of; units judged once are left out (Krippendorff 2011,
    "Computing Krippendorff's alpha-reliability"). Interval differences are squared, nominal ones are 0 or 1. 1 is
    perfect agreement, 0 what chance gives; NaN where nothing was judged twice or all values are the same.
    """
    scores = np.asarray(values, dtype=np.float64)
    _, places = np.unique(np.asarray(units), return_inverse=True)
    known = ~np.isnan(scores)
    counts = np.bincount(places[known], minlength=places.max(initial=-1) + 1)
    used = known & (counts[places] > 1)
    if not used.any():
        return float("nan")
    scores, places = scores[used], places[used]
    counts = np.bincount(places)
    disagreement = _squares if level == "interval" else _mismatches
    observed = (disagreement(places, scores) / np.maximum(counts - 1, 1)).sum() / scores.size
    expected = disagreement(np.zeros(scores.size, dtype=np.int64), scores)[0] / (scores.size * (scores.size - 1))
    return float(1.0 - ratio(observed, np.asarray(expected)))


def _squares(places: NDArray[np.int64], scores: Array) -> Array:
    """Sum over ordered pairs of squared differences within each group: 2(n Σv² − (Σv)²)."""
    values = scores - scores.mean()
    n, total = np.bincount(places), np.bincount(places, values)
    return np.asarray(2.0 * (n * np.bincount(places, values**2) - total**2))


def _mismatches(places: NDArray[np.int64], scores: Array) -> Array:
    """Ordered pairs of unequal values within each group: n² − Σ of squared counts."""
    _, kinds = np.unique(scores, return_inverse=True)
    table = np.zeros((places.max() + 1, kinds.max() + 1))
    np.add.at(table, (places, kinds), 1.0)
    return np.asarray(table.sum(axis=1) ** 2 - (table**2).sum(axis=1))


@dataclass(frozen=True)
class RaterPairs:
    """Mean correlations over pairs of raters, weighted by what they judged in common."""

    pearson: float
    kendall: float
    pairs: int
    common: int
    """Judgements in common, summed over the pairs."""


def rater_pairs(judged: Mapping[str, Mapping[str, float]], least: int = 10) -> RaterPairs:
    """Pearson's r and Kendall's τ-b of every two raters with at least `least` units in common.

    `judged` maps raters to their scores by unit. Pairs in which one rater gave the same score throughout are left out.
    """
    from scipy.stats import kendalltau

    found = []
    for one, other in combinations(judged.values(), 2):
        common = [unit for unit in one if unit in other]
        if len(common) < least:
            continue
        first, second = (np.array([scores[unit] for unit in common]) for scores in (one, other))
        if np.ptp(first) and np.ptp(second):
            r = float(np.corrcoef(first, second)[0, 1])
            found.append((r, float(kendalltau(first, second).statistic), len(common)))
    if not found:
        return RaterPairs(float("nan"), float("nan"), 0, 0)
    table = np.array(found)
    pearson, kendall = np.average(table[:, :2], axis=0, weights=table[:, 2])
    return RaterPairs(float(pearson), float(kendall), len(found), int(table[:, 2].sum()))
