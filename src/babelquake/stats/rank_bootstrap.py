"""Bootstrap of rank correlations across segments, without ranking every resample anew.

A resample is a count per segment, which weighs each of its entries (one per system). Entries are sorted once:
Spearman's mid-ranks of a resample are running sums of counts in that order. Kendall's τ-b needs pairs only through
three tables of segments × segments (pairs ordered alike minus otherwise, pairs ordered by the humans, by the metric),
of which a resample with counts c takes the quadratic forms ½·cᵀFc: an entry and its own copy are tied on both sides.

A rank correlation has an interval and no test, so `ENOUGH_DRAWS` resamples do for it, however many others get.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from babelquake.stats.bootstrap import Resampled, in_order
from babelquake.stats.groups import Array, By, average, grouped, ratio
from babelquake.stats.kendall import tau_b
from babelquake.stats.parallel import in_parallel
from babelquake.stats.resampling import Draws, Keys

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
