"""Bootstrap distributions of agreement with humans: segments are drawn, each with all its systems.

Averages over segments and counts of pairs within segments are functions of sums over segments, and so is Pearson's r
(of Σ1, Σh, Σm, Σh², Σm², Σhm): `agreement_rows` gives those rows, which serve the bootstrap and tests of differences
alike. Rank correlations across segments have no such form, and are drawn without ranking every resample anew:
a resample is a count per segment, which weighs each of its entries (one per system). Entries are sorted once:
Spearman's mid-ranks of a resample are running sums of counts in that order. Kendall's τ-b needs pairs only through
three tables of segments × segments (pairs ordered alike minus otherwise, pairs ordered by the humans, by the metric),
of which a resample with counts c takes the quadratic forms ½·cᵀFc: an entry and its own copy are tied on both sides.

A rank correlation has an interval and no test, so `ENOUGH_DRAWS` resamples do for it, however many others get.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from babelquake.errors import UserError
from babelquake.stats.agreement import (
    Array,
    By,
    accuracy_of_groups,
    agreement,
    as_table,
    auc_of_sums,
    auc_rows,
    average,
    calibrated_accuracy,
    concordance,
    group_pearson,
    group_spearman,
    grouped,
    kendall_like_rows,
    moments,
    pearson_of_moments,
    ratio,
    soft_accuracy_of_sums,
    soft_accuracy_rows,
    tau_b,
)
from babelquake.stats.bootstrap import Resampled, bootstrap, in_order
from babelquake.stats.parallel import in_parallel
from babelquake.stats.resampling import Draws, Keys

WITHIN_SEGMENT = {"pearson": group_pearson, "spearman": group_spearman, "kendall": tau_b}
OWN_GROUPS: dict[str, By] = {"kendall_like": "item", "accuracy": "item"}
"""How a statistic groups scores unless told otherwise; the rest take all together."""
ALWAYS: dict[str, By] = {"soft_accuracy": "item", "auc": "none"}


def grouping(statistic: str, by: By | None) -> By:
    """The grouping asked for, or the statistic's own; soft accuracy, which is of systems, and AUC have one only."""
    if statistic in ALWAYS:
        return ALWAYS[statistic]
    return by or OWN_GROUPS.get(statistic, "none")


def has_rows(statistic: str, by: By | None = None) -> bool:
    """Whether a statistic is a function of sums over segments."""
    group = grouping(statistic, by)
    return group == "item" or statistic in ("pearson", "auc")


def agreement_rows(
    statistic: str, human: ArrayLike, metric: ArrayLike, by: By | None = None, threshold: float = 25.0
) -> tuple[Callable[[Array], Array], Array]:
    """A statistic as a function of sums, and the rows to sum, one per segment.

    Accuracy keeps the ε that was calibrated on the whole data. `threshold` is that of `kendall_like`.
    """
    if not has_rows(statistic, by):
        raise UserError(f"{statistic} across segments is not a function of sums over segments.")
    if statistic == "auc":
        return auc_of_sums, auc_rows(human, metric)
    if grouping(statistic, by) != "item":
        return _pearson_rows(human, metric, grouping(statistic, by))
    if statistic == "soft_accuracy":
        return soft_accuracy_of_sums, soft_accuracy_rows(human, metric)
    judged, scored = grouped(human, metric, "item")
    if statistic == "kendall_like":
        return concordance, kendall_like_rows(judged, scored, threshold)
    if statistic == "accuracy":
        values = accuracy_of_groups(judged, scored, calibrated_accuracy(human, metric, "item").epsilon)
    else:
        values = WITHIN_SEGMENT[statistic](judged, scored)
    known = ~np.isnan(values)
    return _mean, np.stack([np.where(known, values, 0.0), known], axis=1)


def bootstrap_agreement(
    statistic: str,
    human: ArrayLike,
    metric: ArrayLike,
    by: By | None = None,
    *,
    resamples: int = 10_000,
    seed: int = 0,
    threshold: float = 25.0,
    keys: Keys | None = None,
) -> Resampled:
    """Bootstrap of a statistic in `AGREEMENTS`; the same seed and segments give paired values for two metrics.

    `keys` tell the segment of each item; items with one key (two ids of one sentence) are drawn together.
    """
    function = agreement(statistic)
    group = grouping(statistic, by)
    if has_rows(statistic, by):
        of_sums, rows = agreement_rows(statistic, human, metric, by, threshold)
        return bootstrap(of_sums, [rows], resamples, seed, keys)
    judged, scored = as_table(human), as_table(metric)
    if statistic == "spearman":
        return bootstrap_spearman(judged, scored, group, resamples, seed, keys)
    if statistic == "kendall":
        return bootstrap_kendall(judged, scored, group, resamples, seed, keys)
    options = {"threshold": threshold} if statistic == "kendall_like" else {}

    def agree(one: Array, other: Array) -> Array:
        return function(one, other, group, **options)

    return bootstrap_by_recounting(agree, judged, scored, resamples, seed, keys)


def _pearson_rows(human: ArrayLike, metric: ArrayLike, by: By) -> tuple[Callable[[Array], Array], Array]:
    """Pearson's r of all entries or of each system, as a function of moments summed over segments."""
    rows = moments(as_table(human), as_table(metric))
    if by == "none":
        rows = rows.sum(axis=0, keepdims=True)
    groups, segments, width = rows.shape

    def correlation(sums: Array) -> Array:
        return average(pearson_of_moments(sums.reshape(*sums.shape[:-1], groups, width)))

    return correlation, rows.swapaxes(0, 1).reshape(segments, groups * width)


def _mean(sums: Array) -> Array:
    return ratio(sums[..., 0], sums[..., 1])


MOST_SEGMENTS = 3_000
"""Segments up to which tables of segments × segments are kept."""
ENOUGH_DRAWS = 2_000
"""Resamples from which on an interval hardly moves: its ends are known to within 3 % of its width."""
FEW_DRAWS = 200
"""Resamples where each must be computed anew on that many segments: enough for a standard deviation within 5 %."""
ENTRIES_AT_ONCE = 1 << 18
SEGMENTS_AT_ONCE = 32
"""Rows of a table of segments × segments made at once: they stay in the processor's cache."""


def bootstrap_spearman(
    human: Array, metric: Array, by: By, resamples: int, seed: int, keys: Keys | None = None
) -> Resampled:
    """Spearman's ρ of all entries or of each system, averaged; tables are systems × items."""
    human, metric, draws = _drawn(human, metric, seed, keys)
    resamples = min(resamples, ENOUGH_DRAWS)
    systems, items = human.shape
    if by == "none":
        groups = [_Ranked(human.ravel(), metric.ravel(), np.tile(np.arange(items), systems))]
    else:
        groups = [_Ranked(human[place], metric[place], np.arange(items)) for place in range(systems)]
    value = average(np.stack([group.rho(np.ones((1, items))) for group in groups], axis=-1))
    at_once = max(1, 64 * (ENTRIES_AT_ONCE // (64 * systems * items)))

    def block(first: int) -> Array:
        here = draws.tile(slice(None), first, min(64, resamples - first)).T.astype(np.float64)
        parts = [here[start : start + at_once] for start in range(0, len(here), at_once)]
        return np.concatenate([average(np.stack([group.rho(part) for group in groups], axis=-1)) for part in parts])

    return Resampled(float(value[0]), np.concatenate(list(in_parallel(block, range(0, resamples, 64)))))


def bootstrap_kendall(
    human: Array, metric: Array, by: By, resamples: int, seed: int, keys: Keys | None = None
) -> Resampled:
    """Kendall's τ-b of all entries or of each system, averaged; tables are systems × items."""
    if human.shape[1] > MOST_SEGMENTS:

        def agree(one: Array, other: Array) -> Array:
            return average(tau_b(*grouped(one, other, by)))

        return bootstrap_by_recounting(agree, human, metric, min(resamples, FEW_DRAWS), seed, keys)
    human, metric, draws = _drawn(human, metric, seed, keys)
    members = [slice(None)] if by == "none" else [slice(place, place + 1) for place in range(len(human))]
    tables = [pair_tables(human[some], metric[some]) for some in members]

    def taus(counts: NDArray[np.float32]) -> Array:
        found = []
        for forms in tables:
            alike, judged, scored = ((counts @ form * counts).sum(axis=1, dtype=np.float64) for form in forms)
            found.append(ratio(alike, np.sqrt(judged * scored)))
        return average(np.stack(found, axis=-1))

    def block(first: int) -> Array:
        return taus(draws.tile(slice(None), first, min(64, resamples - first)).T.astype(np.float32))

    resamples = min(resamples, ENOUGH_DRAWS)
    values = list(in_parallel(block, range(0, resamples, 64)))
    return Resampled(float(taus(np.ones((1, human.shape[1]), dtype=np.float32))[0]), np.concatenate(values))


def bootstrap_by_recounting(
    agree: Callable[[Array, Array], Array], human: Array, metric: Array, resamples: int, seed: int, keys: Keys | None
) -> Resampled:
    """Any agreement of two tables of systems × items, computed anew for every resample."""
    human, metric, draws = _drawn(human, metric, seed, keys)

    def block(first: int) -> list[float]:
        counts = draws.tile(slice(None), first, min(64, resamples - first)).T
        return [float(agree(np.repeat(human, row, axis=1), np.repeat(metric, row, axis=1))) for row in counts]

    drawn = [value for some in in_parallel(block, range(0, resamples, 64)) for value in some]
    return Resampled(float(agree(human, metric)), np.array(drawn))


def pair_tables(human: Array, metric: Array) -> list[NDArray[np.float32]]:
    """Of every two segments, over all pairs of their entries: ordered alike minus otherwise; ordered by h; by m.

    Sums of int16 hold up to 32,767 pairs of two segments: 181 systems.
    """
    items, systems = human.shape[1], len(human)
    whole = np.int16 if systems**2 < np.iinfo(np.int16).max else np.int32

    def rows(first: int) -> list[NDArray[np.float32]]:
        """The tables' rows of some segments."""
        some = slice(first, first + SEGMENTS_AT_ONCE)
        sums = [np.zeros((len(human[0, some]), items), dtype=whole) for _ in range(3)]
        for one in range(systems):
            for other in range(systems):
                by_human, by_metric = (_order(table[one, some], table[other]) for table in (human, metric))
                for total, part in zip(sums, (by_human * by_metric, np.abs(by_human), np.abs(by_metric)), strict=True):
                    np.add(total, part, out=total, casting="unsafe")
        return [total.astype(np.float32) for total in sums]

    parts = list(in_parallel(rows, range(0, items, SEGMENTS_AT_ONCE)))
    return [np.concatenate([part[table] for part in parts]) for table in range(3)]


class _Ranked:
    """Entries of one group in the order of either score, so that ranks of any resample are running sums."""

    def __init__(self, human: Array, metric: Array, items: NDArray[np.intp]) -> None:
        known = ~np.isnan(human + metric)
        self.items = items[known]
        self.orders = [_Sorted(values[known]) for values in (human, metric)]

    def rho(self, counts: Array) -> Array:
        """ρ of resamples, counts (draws, items) → (draws): Pearson's r of mid-ranks, whose mean is (T + 1)/2."""
        if not self.items.size:
            return np.full(len(counts), np.nan)
        weights = counts[:, self.items]
        middle = (weights.sum(axis=1, keepdims=True) + 1) / 2
        one, other = (order.ranks(weights) - middle for order in self.orders)
        spread = (weights * one * one).sum(axis=1) * (weights * other * other).sum(axis=1)
        return ratio((weights * one * other).sum(axis=1), np.sqrt(spread))


class _Sorted:
    """Values sorted once; equal ones share their rank."""

    def __init__(self, values: Array) -> None:
        self.order = np.argsort(values, kind="stable")
        first = np.diff(values[self.order], prepend=-np.inf) > 0
        self.starts = np.flatnonzero(first)
        self.group = np.empty(values.size, dtype=np.intp)
        self.group[self.order] = np.cumsum(first) - 1

    def ranks(self, weights: Array) -> Array:
        """The mid-rank of every entry where each occurs as often as its weight."""
        sizes = np.add.reduceat(weights[:, self.order], self.starts, axis=1)
        middle = np.cumsum(sizes, axis=1) - (sizes - 1) / 2
        return np.asarray(middle[:, self.group])


def _drawn(human: Array, metric: Array, seed: int, keys: Keys | None) -> tuple[Array, Array, Draws]:
    """Both tables with their items in the order of keys, missing in both where missing in one, and the draws."""
    missing = np.isnan(human) | np.isnan(metric)
    together = np.concatenate([np.where(missing, np.nan, human), np.where(missing, np.nan, metric)]).T
    ordered, known = in_order(together, keys)
    one, other = np.split(ordered.T, 2)
    return np.ascontiguousarray(one), np.ascontiguousarray(other), Draws(known, "resample", seed)


def _order(one: Array, other: Array) -> NDArray[np.int8]:
    """sign(x − y) of all pairs; 0 where one is missing."""
    above = np.greater.outer(one, other).view(np.int8)
    return above - np.less.outer(one, other).view(np.int8)
