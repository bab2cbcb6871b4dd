"""Agreement counted over pairs: Kendall's τ-b and the Kendall-like measures of the WMT metrics tasks.

Pairs of a group are visited by distance: entry i with entry i + k, for k = 1, 2, …, all groups and all tables of a
stack at once. A pair with a missing score has the difference NaN and so is on no side of any comparison.
"""

from collections.abc import Iterator
from itertools import permutations
from math import factorial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from babelquake.errors import UserError
from babelquake.stats.groups import Array, By, grouped, ratio
from babelquake.stats.pvalues import p_value

LONG_GROUP = 64
"""From this many entries on, τ-b is left to SciPy's O(n log n) count."""


def tau_b(human: Array, metric: Array) -> Array:
    """Kendall's τ-b of each group: (groups, entries) and (…, groups, entries) → (…, groups)."""
    if human.shape[-1] >= LONG_GROUP:
        return _tau_b_of_long_groups(human, metric)
    balance, metric_ordered = np.zeros(metric.shape[:-1]), np.zeros(metric.shape[:-1])
    human_ordered = np.zeros(human.shape[:-1])
    for judged, scored in pairs(human, metric):
        agreeing = scored * np.nan_to_num(np.sign(judged))
        balance += np.count_nonzero(agreeing > 0, axis=-1)
        balance -= np.count_nonzero(agreeing < 0, axis=-1)
        metric_ordered += np.count_nonzero(np.abs(scored) > 0, axis=-1)
        human_ordered += np.count_nonzero(np.abs(judged) > 0, axis=-1)
    return ratio(balance, np.sqrt(human_ordered * metric_ordered))


def kendall_like(human: ArrayLike, metric: ArrayLike, by: By = "item", threshold: float = 25.0) -> Array:
    """(C − D)/(C + D) over the pairs of all groups whose human scores differ by at least `threshold`.

    A pair is concordant where the metric orders it as the humans do, discordant otherwise: ties of the metric are
    discordant (WMT20 and WMT21 metrics tasks; Vu 2022 for wmt21.flores). Raw 0–100 direct assessments, `by="item"`
    and 25 points are the task's setting. Pairs are pooled, not averaged over groups. NaN where no pair is left.
    """
    sums = kendall_like_rows(*grouped(human, metric, by), threshold=threshold).sum(axis=-2)
    return concordance(sums)


def kendall_like_rows(human: Array, metric: Array, threshold: float = 25.0) -> Array:
    """Concordant and discordant pairs of each group, shape (…, groups, 2)."""
    if threshold < 0:
        raise UserError(f"the threshold on human scores cannot be negative; {threshold:g} was given.")
    counts = np.zeros((*metric.shape[:-1], 2))
    for judged, scored in pairs(human, metric):
        order = np.where(np.abs(judged) >= threshold, np.sign(judged), 0.0)
        agreed = np.count_nonzero(scored * order > 0, axis=-1)
        counts[..., 0] += agreed
        counts[..., 1] += np.count_nonzero(order, axis=-1) - agreed
    return counts


def darr(better: ArrayLike, worse: ArrayLike) -> Array:
    """Agreement with human better/worse pairs (DARR; Ma et al. 2019, WMT19 metrics task §4.2.1).

    `better` and `worse` hold the metric's scores of the two translations of each pair. (C − D)/(C + D), where the
    metric must score the better one strictly higher; ties are discordant. Pairs lie along the last axis.
    """
    return concordance(darr_rows(better, worse).sum(axis=-2))


def darr_rows(better: ArrayLike, worse: ArrayLike, segments: ArrayLike | None = None) -> Array:
    """Concordant and discordant counts, shape (…, pairs, 2), or (…, segments, 2) where each pair's segment is told.

    With `segments`, rows are summed by segment in ascending order: pairs of one sentence are not independent evidence,
    so a bootstrap should draw segments.
    """
    winners, losers = np.asarray(better, dtype=np.float64), np.asarray(worse, dtype=np.float64)
    if winners.shape != losers.shape:
        raise UserError(f"each better score needs its worse one; found {winners.shape} and {losers.shape} scores.")
    concordant = winners > losers
    rows = np.stack([concordant, ~concordant], axis=-1).astype(np.float64)
    if segments is None:
        return rows
    names, places = np.unique(np.asarray(segments), return_inverse=True)
    order = np.argsort(places, kind="stable")
    starts = np.searchsorted(places[order], np.arange(len(names)))
    return np.add.reduceat(rows[..., order, :], starts, axis=-2)


def concordance(counts: Array) -> Array:
    """(C − D)/(C + D) of counts (…, 2): the function to bootstrap with `kendall_like_rows` or `darr_rows`."""
    return ratio(counts[..., 0] - counts[..., 1], counts.sum(axis=-1))


def rank_agreement(one: Array, other: Array, seed: int, draws: int = 10_000) -> tuple[float, float]:
    """Kendall's τ of two rankings and its one-sided permutation p-value: exact up to eight models, drawn beyond."""
    observed = _tau(one, other)
    if factorial(len(one)) <= factorial(8):
        orders = np.array(list(permutations(range(len(one)))))
    else:
        rng = np.random.default_rng(seed)
        orders = np.array([rng.permutation(len(one)) for _ in range(draws)])
        orders[0] = np.arange(len(one))
    drawn = np.array([_tau(one, other[order]) for order in orders])
    return observed, p_value(drawn, observed, "greater", exhaustive=True)


def pairs(human: Array, metric: Array) -> Iterator[tuple[Array, Array]]:
    """Differences of human and of metric scores for all pairs of each group, in blocks of equal distance."""
    for distance in range(1, human.shape[-1]):
        yield (
            human[..., :-distance] - human[..., distance:],
            metric[..., :-distance] - metric[..., distance:],
        )


def _tau_b_of_long_groups(human: Array, metric: Array) -> Array:
    from scipy.stats import kendalltau

    taus = np.full(metric.shape[:-1], np.nan)
    known: NDArray[np.bool_] = ~np.isnan(human)
    for place in np.ndindex(taus.shape):
        entries = known[place[-1]]
        if entries.sum() > 1:
            taus[place] = kendalltau(human[place[-1], entries], metric[(*place, entries)]).statistic
    return taus


def _tau(one: Array, other: Array) -> float:
    signs = np.sign(one[:, None] - one) * np.sign(other[:, None] - other)
    return float(signs.sum() / (len(one) * (len(one) - 1)))
