"""Bootstrap distributions of agreement with humans: segments are drawn, each with all its systems.

Averages over segments and counts of pairs within segments are functions of sums over segments, and so is Pearson's r
(of Σ1, Σh, Σm, Σh², Σm², Σhm): `agreement_rows` gives those rows, which serve the bootstrap and tests of differences
alike. Rank correlations across segments have no such form; see `rank_bootstrap`.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from babelquake.errors import UserError
from babelquake.stats.accuracy import accuracy_of_groups, calibrated_accuracy
from babelquake.stats.agreement import agreement, group_pearson, group_spearman, moments, pearson_of_moments
from babelquake.stats.bootstrap import Resampled, bootstrap
from babelquake.stats.groups import Array, By, as_table, average, grouped, ratio
from babelquake.stats.kendall import concordance, kendall_like_rows, tau_b
from babelquake.stats.rank_bootstrap import bootstrap_by_recounting, bootstrap_kendall, bootstrap_spearman
from babelquake.stats.resampling import Keys
from babelquake.stats.soft_accuracy import soft_accuracy_of_sums, soft_accuracy_rows

WITHIN_SEGMENT = {"pearson": group_pearson, "spearman": group_spearman, "kendall": tau_b}
OWN_GROUPS: dict[str, By] = {"kendall_like": "item", "accuracy": "item"}
"""How a statistic groups scores unless told otherwise; the rest take all together."""


def grouping(statistic: str, by: By | None) -> By:
    """The grouping asked for, or the statistic's own; soft accuracy, which is of systems, has one only."""
    if statistic == "soft_accuracy":
        return "item"
    return by or OWN_GROUPS.get(statistic, "none")


def has_rows(statistic: str, by: By | None = None) -> bool:
    """Whether a statistic is a function of sums over segments."""
    group = grouping(statistic, by)
    return group == "item" or statistic == "pearson"


def agreement_rows(
    statistic: str, human: ArrayLike, metric: ArrayLike, by: By | None = None, threshold: float = 25.0
) -> tuple[Callable[[Array], Array], Array]:
    """A statistic as a function of sums, and the rows to sum, one per segment.

    Accuracy keeps the ε that was calibrated on the whole data. `threshold` is that of `kendall_like`.
    """
    if not has_rows(statistic, by):
        raise UserError(f"{statistic} across segments is not a function of sums over segments.")
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
