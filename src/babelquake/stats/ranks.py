"""Rank tests of two samples, by SciPy; clusters of systems that they give, and how many ratings a difference needs.

Wilcoxon's tests come with p-values from tables or normal curves. To correct many of them together, each needs draws of
its statistic under the null hypothesis, and the draws must be shared, keyed by segment, as everywhere:
`superiority_test` and `signed_rank_test` are members of such families.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from babelquake.errors import UserError
from babelquake.stats.bootstrap import Array, bootstrap, in_order, weighted_sums
from babelquake.stats.pvalues import Alternative
from babelquake.stats.resampling import Draws, Keys
from babelquake.stats.testing import Test, bootstrap_test


@dataclass(frozen=True)
class Needed:
    """The size at which a difference like the observed one is likely to be found."""

    superiority: float
    """P(first > second) + ½ P(equal), as observed."""
    each: float
    """Scores needed on each side; infinite where the observed difference is nil or points the other way."""


def rank_sum_size(first: ArrayLike, second: ArrayLike, alpha: float = 0.05, power: float = 0.8) -> Needed:
    """Scores per side for which a one-sided rank-sum test finds `first` above `second` with the given power.

    Noether (1987, eq. 12): N = (z_α + z_β)² / (12 c (1 − c)(p − ½)²) scores in all, with half on each side, taking the
    observed p = P(first > second) for the true one.
    """
    from scipy.special import ndtri

    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    superiority = rank_sum(one, two).statistic / (one.size * two.size)
    if superiority <= 0.5:
        return Needed(superiority, math.inf)
    quantiles = float(ndtri(1 - alpha) + ndtri(power))
    everything = quantiles**2 / (12 * 0.25 * (superiority - 0.5) ** 2)
    return Needed(superiority, math.ceil(everything / 2))


@dataclass(frozen=True)
class Place:
    """Where a system stands: the systems it beats, and the first and last rank of its cluster, from 1."""

    wins: int
    first: int
    last: int


def rank_sum_matrix(samples: Sequence[ArrayLike]) -> Array:
    """One-sided p-values: row i, column j says how easily chance puts sample i above sample j; NaN on the diagonal.

    Wilcoxon's rank-sum test as the WMT findings use it on segment means, normal approximation with continuity
    correction beyond tiny samples.
    """
    p = np.full((len(samples), len(samples)), np.nan)
    for one, other in np.ndindex(p.shape):
        if one != other:
            p[one, other] = rank_sum(samples[one], samples[other], "greater").p
    return p


def clusters(p: Array, alpha: float = 0.05) -> list[Place]:
    """Places of systems given in order, best first, from their matrix of p-values.

    A cluster ends where every system above beats every system below (WMT findings since 2013).
    """
    beats: NDArray[np.bool_] = p < alpha
    systems = len(p)
    ends = [place for place in range(1, systems) if beats[:place, place:].all()]
    bounds = [0, *ends, systems]
    places = []
    for first, last in pairwise(bounds):
        places += [Place(int(beats[system].sum()), first + 1, last) for system in range(first, last)]
    return places


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


def superiority_test(
    first: ArrayLike, second: ArrayLike, keys: tuple[Keys, Keys], *, draws: int = 1999, seed: int = 0
) -> Test:
    """Is the first sample higher? One-sided rank-sum p; its draws resample the segments behind both samples.

    The value is P(first > second) + ½ P(equal) − ½. On a resample it is, to first order, the mean placement of the
    first sample's scores among the second's, and the other way round (Hájek's projection of the U statistic).
    """
    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    placed = _placements(one, two), 1 - _placements(two, one)
    everywhere = np.union1d(*keys)
    rows = np.zeros((len(everywhere), 4))
    for column, (own, values) in enumerate(zip(keys, placed, strict=True)):
        places = np.searchsorted(everywhere, own)
        rows[:, 2 * column] = np.bincount(places, values, len(everywhere))
        rows[:, 2 * column + 1] = np.bincount(places, minlength=len(everywhere))
    seen = float(placed[0].mean())

    def above_half(sums: Array) -> Array:
        return np.asarray(sums[..., 0] / sums[..., 1] + sums[..., 2] / sums[..., 3] - seen - 0.5)

    drawn = bootstrap(above_half, [rows], draws, seed, everywhere)
    test = bootstrap_test(drawn, one.size + two.size, one.size + two.size, "greater")
    return replace(test, p=rank_sum(one, two, "greater").p)


def signed_rank_test(first: ArrayLike, second: ArrayLike, keys: Keys, *, draws: int = 1999, seed: int = 0) -> Test:
    """Is the first of two paired scores higher? One-sided signed-rank p; its draws flip the signs of the ranks."""
    from scipy.stats import rankdata

    differences = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    p = signed_rank(first, second, "greater").p
    unequal = differences != 0
    if not unequal.any():
        return Test(0.0, np.zeros(draws), differences.size, 0, 1.0, "nothing differs", "greater")
    known = differences[unequal]
    ranks = np.sign(known) * rankdata(np.abs(known))
    ordered, known_keys = in_order(ranks[:, None], keys[unequal])
    null = ranks.sum() - 2 * weighted_sums(ordered, Draws(known_keys, "swap", seed), draws)[:, 0]
    return Test(float(ranks.sum()), null, differences.size, known.size, p, "randomisation", "greater")


def _placements(values: Array, among: Array) -> Array:
    """For each value the share of the others below it, ties by half."""
    from scipy.stats import rankdata

    return np.asarray((rankdata(np.concatenate([values, among]))[: values.size] - rankdata(values)) / among.size)
