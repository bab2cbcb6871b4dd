"""Tests of two samples, by SciPy: Wilcoxon's rank tests, and whether one is spread wider than the other."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from babelquake.errors import UserError
from babelquake.stats.pvalues import Alternative

ENOUGH = 100
"""Scores on both sides together from which on no count of arrangements is needed."""


@dataclass(frozen=True)
class RankTest:
    """The statistic, the p-value and the number of scores (pairs, for the signed-rank test) that were ranked."""

    statistic: float
    p: float
    ranked: int


def rank_sum(first: ArrayLike, second: ArrayLike, alternative: Alternative = "two-sided") -> RankTest:
    """Wilcoxon's rank-sum test of two independent samples (Mann & Whitney 1947); the statistic is U of `first`.

    Ties get their mean rank. Exact where both samples are small (8 at most for one) and free of ties, otherwise the
    normal approximation with tie and continuity correction. NaN scores are left out.
    """
    from scipy.stats import mannwhitneyu

    one, two = _known(first), _known(second)
    if min(one.size, two.size) == 0:
        raise UserError("a rank-sum test needs at least one score on each side.")
    result = mannwhitneyu(one, two, alternative=alternative, method="auto")
    return RankTest(float(result.statistic), float(result.pvalue), one.size + two.size)


def can_separate(one: int, other: int, alpha: float = 0.05) -> bool:
    """Whether any outcome of a rank-sum test on so many scores is significant: all of one above all of the other."""
    return min(one, other) > 0 and (one + other > ENOUGH or 1 / math.comb(one + other, one) < alpha)


def spread_difference(first: ArrayLike, second: ArrayLike) -> float:
    """The two-sided p-value that two independent samples are equally spread (Brown & Forsythe 1974).

    Compares distances from the medians, so that neither long tails nor a shift of one sample are taken for spread.
    Samples without any spread are equal.
    """
    from scipy.stats import levene

    one, two = _known(first), _known(second)
    if np.ptp(one) == np.ptp(two) == 0:
        return 1.0
    return float(levene(one, two, center="median").pvalue)


def signed_rank(first: ArrayLike, second: ArrayLike, alternative: Alternative = "two-sided") -> RankTest:
    """Wilcoxon's signed-rank test of paired scores (Wilcoxon 1945).

    Pairs without a difference are dropped before ranking, as Wilcoxon did; |differences| that tie get their mean
    rank. Exact for 50 pairs or fewer without ties and zeros, otherwise the normal approximation. The statistic is the
    smaller rank sum (two-sided) or that of the positive differences. Pairs with a NaN are left out; no difference at
    all is p = 1.
    """
    from scipy.stats import wilcoxon

    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape != two.shape:
        raise UserError(f"a signed-rank test needs pairs; found {one.size} and {two.size} scores.")
    differences = _known(one - two)
    differences = differences[differences != 0]
    if differences.size == 0:
        return RankTest(0.0, 1.0, 0)
    result = wilcoxon(differences, zero_method="wilcox", alternative=alternative, method="auto")
    return RankTest(float(result.statistic), float(result.pvalue), differences.size)


def _known(scores: ArrayLike) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    values = np.asarray(scores, dtype=np.float64).ravel()
    return values[~np.isnan(values)]


def paired_t(differences: NDArray[np.float64]) -> tuple[float | None, float | None]:
    """t and one-sided p of differences below 0; differences that are all equal are certain one way or the other."""
    from scipy.stats import ttest_1samp

    if differences.size < 2:
        return None, None
    if np.ptp(differences) == 0:
        return None, 0.0 if differences[0] < 0 else 1.0
    found = ttest_1samp(differences, 0.0, alternative="less")
    return float(found.statistic), float(found.pvalue)
