"""Correlation of metric scores with human scores, within groups and averaged over them.

Every function takes human and metric scores as tables of systems × items (or vectors) and `by`, see `groups`; it
gives one number, or an array where the metric is a stack of tables. Groups in which a correlation is not defined
(constant scores, fewer than two entries) are left out of the average; NaN where no group is left.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from babelquake.errors import UserError, did_you_mean
from babelquake.stats.accuracy import accuracy
from babelquake.stats.groups import Array, By, average, grouped, ratio, z_scores
from babelquake.stats.kendall import kendall_like, tau_b
from babelquake.stats.soft_accuracy import soft_accuracy

ROUNDING = 1e-13
"""Relative to standardised scores, variances below this are rounding: the scores are constant."""


def pearson(human: ArrayLike, metric: ArrayLike, by: By = "none") -> Array:
    """Pearson's r = Σ(h − h̄)(m − m̄) / √(Σ(h − h̄)² · Σ(m − m̄)²)."""
    return average(group_pearson(*grouped(human, metric, by)))


def spearman(human: ArrayLike, metric: ArrayLike, by: By = "none") -> Array:
    """Spearman's ρ: Pearson's r of the ranks within the group, ties at their mean rank."""
    return average(group_spearman(*grouped(human, metric, by)))


def kendall(human: ArrayLike, metric: ArrayLike, by: By = "none") -> Array:
    """Kendall's τ-b = (C − D) / √((P − T_h)(P − T_m)) over the P pairs of a group; T are ties (Kendall 1945)."""
    return average(tau_b(*grouped(human, metric, by)))


def group_pearson(human: Array, metric: Array) -> Array:
    """Pearson's r of each group: (groups, entries) and (…, groups, entries) → (…, groups)."""
    judged = _deviations(human)
    scored = _deviations(metric)
    spread = np.sqrt(np.einsum("gs,gs->g", judged, judged) * np.einsum("...gs,...gs->...g", scored, scored))
    joint = np.einsum("gs,...gs->...g", judged, scored)
    return ratio(joint, spread)


def moments(human: Array, metric: Array) -> Array:
    """Of each entry: 1, h, m, h², m², hm along a new last axis, of standardised scores; all 0 where one is missing."""
    known = ~np.isnan(human + metric)
    h, m = (np.nan_to_num(z_scores(table, known)) for table in (human, metric))
    return np.stack([known.astype(np.float64), h, m, h * h, m * m, h * m], axis=-1)


def pearson_of_moments(sums: Array) -> Array:
    """Pearson's r of summed `moments`, shape (…, 6) → (…)."""
    n, h, m, hh, mm, hm = np.moveaxis(sums, -1, 0)
    spread = np.sqrt(np.maximum(n * hh - h * h, 0.0) * np.maximum(n * mm - m * m, 0.0))
    return ratio(n * hm - h * m, np.where(spread > ROUNDING * n * n, spread, 0.0))


def group_spearman(human: Array, metric: Array) -> Array:
    """Spearman's ρ of each group, shaped as `group_pearson`."""
    from scipy.stats import rankdata

    ranks = (rankdata(table, axis=-1, nan_policy="omit") if table.size else table for table in (human, metric))
    return group_pearson(*ranks)


def _deviations(table: Array) -> Array:
    """Differences from the group's mean; 0 for missing entries and, exactly, for constant groups."""
    shifted: Array = table - np.fmax.reduce(table, axis=-1, keepdims=True, initial=-np.inf)
    known = ~np.isnan(shifted)
    if known.all():
        return np.asarray(shifted - shifted.sum(axis=-1, keepdims=True) / max(1, table.shape[-1]))
    filled = np.where(known, shifted, 0.0)
    mean = filled.sum(axis=-1, keepdims=True) / np.maximum(known.sum(axis=-1, keepdims=True), 1)
    return np.where(known, filled - mean, 0.0)


AGREEMENTS: dict[str, Callable[..., Array]] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
    "kendall_like": kendall_like,
    "accuracy": accuracy,
    "soft_accuracy": soft_accuracy,
}
"""Statistics by name, all called as `statistic(human, metric, by)`. DARR has pairs for input: see `kendall.darr`."""


def agreement(name: str) -> Callable[..., Array]:
    """The statistic of that name."""
    if name not in AGREEMENTS:
        raise UserError(f"no agreement statistic is called '{name}'. {did_you_mean(name, AGREEMENTS)}")
    return AGREEMENTS[name]
