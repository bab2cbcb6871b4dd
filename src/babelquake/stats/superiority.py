"""Rank tests as members of a family: the draws that step-down max-T needs beside a rank test's own p-value.

Wilcoxon's tests come with p-values from tables or normal curves. To correct many of them together, each needs draws of
its statistic under the null hypothesis, and the draws must be shared: keyed by segment, as everywhere.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from babelquake.stats.bootstrap import Array, bootstrap, in_order, weighted_sums
from babelquake.stats.ranks import rank_sum, signed_rank
from babelquake.stats.resampling import Draws, Keys
from babelquake.stats.testing import Test, bootstrap_test


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
