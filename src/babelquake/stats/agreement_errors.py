"""Bootstrap distributions of agreement with humans: segments are drawn, each with all its systems.

Averages over segments and counts of pairs within segments are functions of sums over segments, and so is Pearson's r
(of Σ1, Σh, Σm, Σh², Σm², Σhm); these use the streamed matrix product of `bootstrap`. Rank correlations across segments
have no such form and are computed anew for every resample.
"""

import numpy as np
from numpy.typing import ArrayLike

from babelquake.stats.accuracy import accuracy_of_groups, calibrated_accuracy
from babelquake.stats.agreement import agreement, group_pearson, group_spearman, moments, pearson_of_moments
from babelquake.stats.bootstrap import Resampled, bootstrap
from babelquake.stats.groups import Array, By, as_table, average, grouped, ratio
from babelquake.stats.kendall import concordance, darr_rows, kendall_like_rows, tau_b
from babelquake.stats.resampling import resample_counts

WITHIN_SEGMENT = {"pearson": group_pearson, "spearman": group_spearman, "kendall": tau_b}


def bootstrap_agreement(
    statistic: str,
    human: ArrayLike,
    metric: ArrayLike,
    by: By | None = None,
    *,
    resamples: int = 10_000,
    seed: int = 0,
    threshold: float = 25.0,
) -> Resampled:
    """Bootstrap of a statistic in `AGREEMENTS`; the same seed and segments give paired values for two metrics.

    `by` is the statistic's own setting unless given. Accuracy keeps the ε that was calibrated on the whole data.
    `threshold` is that of `kendall_like`.
    """
    function = agreement(statistic)
    group = by or ("item" if statistic in ("kendall_like", "accuracy") else "none")
    if group == "item":
        judged, scored = grouped(human, metric, "item")
        if statistic == "kendall_like":
            return bootstrap(concordance, [kendall_like_rows(judged, scored, threshold)], resamples, seed)
        if statistic == "accuracy":
            values = accuracy_of_groups(judged, scored, calibrated_accuracy(human, metric, "item").epsilon)
        else:
            values = WITHIN_SEGMENT[statistic](judged, scored)
        known = ~np.isnan(values)
        return bootstrap(_mean, [np.stack([np.where(known, values, 0.0), known], axis=1)], resamples, seed)
    if statistic == "pearson":
        return _bootstrap_pearson(human, metric, group, resamples, seed)
    options = {"threshold": threshold} if statistic == "kendall_like" else {}
    judged, scored = as_table(human), as_table(metric)
    drawn = [
        float(function(np.repeat(judged, count, axis=1), np.repeat(scored, count, axis=1), group, **options))
        for block in resample_counts(judged.shape[1], resamples, seed)
        for count in block
    ]
    return Resampled(float(function(judged, scored, group, **options)), np.array(drawn))


def bootstrap_darr(
    better: ArrayLike, worse: ArrayLike, segments: ArrayLike | None = None, *, resamples: int = 10_000, seed: int = 0
) -> Resampled:
    """Bootstrap of DARR over segments, or over pairs where `segments` is not told."""
    return bootstrap(concordance, [darr_rows(better, worse, segments)], resamples, seed)


def _bootstrap_pearson(human: ArrayLike, metric: ArrayLike, by: By, resamples: int, seed: int) -> Resampled:
    """Pearson's r of all entries or of each system, as a function of moments summed over segments."""
    rows = moments(as_table(human), as_table(metric))
    if by == "none":
        rows = rows.sum(axis=0, keepdims=True)
    groups, segments, width = rows.shape

    def correlation(sums: Array) -> Array:
        return average(pearson_of_moments(sums.reshape(*sums.shape[:-1], groups, width)))

    return bootstrap(correlation, [rows.swapaxes(0, 1).reshape(segments, groups * width)], resamples, seed)


def _mean(sums: Array) -> Array:
    return ratio(sums[..., 0], sums[..., 1])
