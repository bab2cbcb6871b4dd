"""Pairwise accuracy: how often a metric orders two translations, or two systems, as the humans do."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from babelquake.errors import UserError
from babelquake.stats.groups import Array, By, grouped, ratio
from babelquake.stats.kendall import pairs

MOST_PAIRS = 20_000_000


@dataclass(frozen=True)
class TiedAccuracy:
    """The accuracy and the ε that reaches it: metric scores that differ by at most ε count as tied."""

    accuracy: float
    epsilon: float


def accuracy(human: ArrayLike, metric: ArrayLike, by: By = "item") -> Array:
    """Pairwise accuracy with tie calibration; see `calibrated_accuracy`."""
    scores = np.asarray(metric, dtype=np.float64)
    lead = scores.shape[: scores.ndim - np.ndim(human)]
    values = [calibrated_accuracy(human, scores[place], by).accuracy for place in np.ndindex(lead)]
    return np.array(values).reshape(lead)


def calibrated_accuracy(human: ArrayLike, metric: ArrayLike, by: By = "item") -> TiedAccuracy:
    """acc_eq with the best ε (Deutsch et al. 2023, "Ties Matter", §4 and §5).

    In a group of P pairs, acc_eq = (C + T_hm)/P: pairs ordered alike, plus pairs tied in both. The metric ties a pair
    where |Δm| ≤ ε; one ε for all groups is chosen, the smallest that gives the highest average over groups. All pairs
    are used.
    """
    judged, scored = grouped(human, metric, by)
    gap, as_ordered, as_tied, weight = _pair_table(judged, scored)
    if gap.size == 0:
        return TiedAccuracy(float("nan"), 0.0)
    order = np.argsort(gap, kind="stable")
    gap = gap[order]
    gains = ((as_tied.astype(np.float64) - as_ordered) * weight)[order]
    at_zero = float(np.where(gap == 0, as_tied[order], as_ordered[order]) @ weight[order])
    apart = np.searchsorted(gap, 0.0, side="right")
    last_of_gap = np.flatnonzero(np.diff(gap[apart:], append=np.inf) > 0)
    reached = at_zero + np.concatenate([[0.0], np.cumsum(gains[apart:])[last_of_gap]])
    epsilons = np.concatenate([[0.0], gap[apart:][last_of_gap]])
    best = int(np.flatnonzero(reached >= reached.max() - 1e-12)[0])
    return TiedAccuracy(float(reached[best]), float(epsilons[best]))


def accuracy_of_groups(human: Array, metric: Array, epsilon: float) -> Array:
    """acc_eq of each group for a given ε; NaN for groups without a pair."""
    right, total = np.zeros(metric.shape[:-1]), np.zeros(metric.shape[:-1])
    for judged, scored in pairs(human, metric):
        tied = np.abs(scored) <= epsilon
        right += np.where(tied, judged == 0, np.sign(judged) * np.sign(scored) > 0).sum(axis=-1)
        total += (~np.isnan(judged + scored)).sum(axis=-1)
    return ratio(right, total)


def _pair_table(human: Array, metric: Array) -> tuple[Array, NDArray[np.bool_], NDArray[np.bool_], Array]:
    """Of every pair: |Δm|, whether it is right when ordered, whether when tied, and its weight in the average."""
    groups, entries = human.shape
    if (total := groups * entries * (entries - 1) // 2) > MOST_PAIRS:
        raise UserError(
            f"calibrating ties would sort {total:,} pairs, more than {MOST_PAIRS:,}: group by item or by system."
        )
    columns: list[tuple[Array, NDArray[np.bool_], NDArray[np.bool_], NDArray[np.intp]]] = []
    for judged, scored in pairs(human, metric):
        group, place = np.nonzero(~np.isnan(judged + scored))
        human_gap, metric_gap = judged[group, place], scored[group, place]
        columns.append((np.abs(metric_gap), np.sign(human_gap) * np.sign(metric_gap) > 0, human_gap == 0, group))
    if not columns:
        return np.empty(0), np.empty(0, np.bool_), np.empty(0, np.bool_), np.empty(0)
    gap, as_ordered, as_tied, group = (np.concatenate(column) for column in zip(*columns, strict=True))
    sizes = np.bincount(group, minlength=groups)
    return gap, as_ordered, as_tied, 1.0 / (sizes[group] * np.count_nonzero(sizes))
