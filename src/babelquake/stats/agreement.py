"""Agreement of metric scores with human scores, within groups and averaged over them.

Human and metric scores are tables of systems × items (items are segments) or vectors, NaN where not judged. A metric
table may have further axes in front, one table per permutation say; agreement then has those axes. `by` says within
which groups agreement is measured, following mt-metrics-eval:

- `none`: one group of all entries
- `item`: one group per segment, across systems (does the metric order the translations of a sentence?)
- `system`: one group per system, across segments

Groups in which a correlation is not defined (constant scores, fewer than two entries) are left out of the average; NaN
where no group is left.

Soft pairwise accuracy (Thompson et al. 2024) asks whether a metric tells two systems apart as surely as people do. For
every two systems i < j, p is the one-sided p-value of "i is better than j" by exchanging their scores segment by
segment: once with people's scores, once with the metric's. The statistic is 1 − mean |p_human − p_metric|. With d the
differences of the two systems' scores, the exchanged sums Σ ±d have mean 0 and variance Σd², and for more than a few
segments they are normal: p = Φ(−Σd / √Σd²). That is where the p-values of mt-metrics-eval (`pce`) go as its
permutations grow, and a function of sums over segments: one bootstrap and one test serve it as they serve the others.
Where two systems have the same score on every segment nothing speaks for either: p = ½.
"""

from collections.abc import Callable, Iterator
from itertools import permutations
from math import factorial
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from babelquake.errors import UserError, did_you_mean
from babelquake.stats.pvalues import p_value

Array = NDArray[np.float64]
By = Literal["none", "item", "system"]


def grouped(human: ArrayLike, metric: ArrayLike, by: By) -> tuple[Array, Array]:
    """Both tables as (…, groups, entries), with NaN wherever either side is missing.

    A plain vector is one system. An entry missing in any table of a stack is missing in all of them.
    """
    judged, scored = as_table(human), np.asarray(metric, dtype=np.float64)
    if np.ndim(human) == 1:
        scored = scored[..., None, :]
    if scored.shape[-2:] != judged.shape:
        raise UserError(
            f"human and metric scores need the same shape (systems, items); "
            f"found {judged.shape} and {scored.shape[-2:]}."
        )
    judged, scored = _cut(judged, by), _cut(scored, by)
    missing = np.isnan(judged) | np.isnan(scored).reshape(-1, *judged.shape).any(axis=0)
    if len(judged) == 1:
        return judged[:, ~missing[0]], scored[..., ~missing[0]]
    if missing.any():
        judged, scored = np.where(missing, np.nan, judged), np.where(missing, np.nan, scored)
    return judged, scored


def as_table(scores: ArrayLike) -> Array:
    """Systems × items; a vector is one system."""
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim not in (1, 2) or table.size == 0:
        raise UserError(f"scores must be a vector or a table of systems × items; found shape {table.shape}.")
    return np.atleast_2d(table)


def average(values: Array) -> Array:
    """The mean over groups (the last axis); groups without a value are left out, NaN where none has one."""
    known = ~np.isnan(values)
    return ratio(np.where(known, values, 0.0).sum(axis=-1), known.sum(axis=-1))


def ratio(numerator: Array, denominator: Array) -> Array:
    """The quotient, NaN where the denominator is not above zero."""
    above = np.asarray(denominator) > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(above, np.asarray(numerator) / np.asarray(denominator), np.nan)


def z_scores(scores: Array, known: NDArray[np.bool_]) -> Array:
    """(x − mean)/sd over the known entries, NaN elsewhere; constant scores become 0."""
    values = scores[known]
    mean, spread = (float(values.mean()), float(values.std())) if values.size else (0.0, 0.0)
    return np.where(known, (scores - mean) / (spread or 1.0), np.nan)


def _cut(table: Array, by: By) -> Array:
    if by == "none":
        return table.reshape(*table.shape[:-2], 1, -1)
    if by == "item":
        return table.swapaxes(-1, -2)
    if by == "system":
        return table
    raise UserError(f"scores cannot be grouped by '{by}'. {did_you_mean(str(by), ('none', 'item', 'system'))}")


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
    """Differences of human and of metric scores for all pairs of each group, by distance: entry i with entry i + k.

    All groups and all tables of a stack at once. A pair with a missing score has the difference NaN and so is on no
    side of any comparison.
    """
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


MOST_PAIRS = 20_000_000


class TiedAccuracy(NamedTuple):
    """The accuracy and the ε that reaches it: metric scores that differ by at most ε count as tied."""

    accuracy: float
    epsilon: float


def accuracy(human: ArrayLike, metric: ArrayLike, by: By = "item") -> Array:
    """Pairwise accuracy with tie calibration; see `calibrated_accuracy`."""
    return _of_each_table(human, metric, lambda table: calibrated_accuracy(human, table, by).accuracy)


def _of_each_table(human: ArrayLike, metric: ArrayLike, statistic: Callable[[Array], float | Array]) -> Array:
    """A statistic of every table of a stack of metric scores."""
    scores = np.asarray(metric, dtype=np.float64)
    lead = scores.shape[: scores.ndim - np.ndim(human)]
    return np.array([statistic(scores[place]) for place in np.ndindex(lead)]).reshape(lead)


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


SUMS = 5
"""Of each pair of systems: segments that both were judged on; Σd and Σd² of people's scores, and of the metric's."""


def soft_accuracy(human: ArrayLike, metric: ArrayLike, by: By = "item") -> Array:
    """Soft pairwise accuracy of scores as systems × items; it is of systems, whatever `by` says."""
    return _of_each_table(
        human, metric, lambda table: soft_accuracy_of_sums(soft_accuracy_rows(human, table).sum(axis=0))
    )


def soft_accuracy_rows(human: ArrayLike, metric: ArrayLike) -> Array:
    """Of every item, for each pair of systems: 1, d and d² by people, d and d² by the metric; 0 where one is missing.

    Scores are standardised, so that those of two metrics can be exchanged.
    """
    judged, scored = as_table(human), as_table(metric)
    known = ~np.isnan(judged + scored)
    first, second = np.triu_indices(len(judged), 1)
    columns = [(known[first] & known[second]).astype(np.float64)]
    for table in (judged, scored):
        standard = z_scores(table, known)
        differences = np.nan_to_num(standard[first] - standard[second])
        columns += [differences, differences**2]
    return np.stack(columns, axis=-1).swapaxes(0, 1).reshape(judged.shape[1], len(first) * SUMS)


def soft_accuracy_of_sums(sums: Array) -> Array:
    """The statistic of summed rows, shape (…, pairs · 5) → (…); pairs without a common segment are left out."""
    from scipy.special import ndtr

    pairs = sums.reshape(*sums.shape[:-1], -1, SUMS)
    judged, scored = (
        ndtr(-pairs[..., at] / np.sqrt(np.where(pairs[..., at + 1] > 0, pairs[..., at + 1], 1.0))) for at in (1, 3)
    )
    known = pairs[..., 0] > 0
    return ratio(np.where(known, 1.0 - np.abs(judged - scored), 0.0).sum(axis=-1), known.sum(axis=-1))


def auc(human: ArrayLike, metric: ArrayLike, by: By = "none") -> Array:
    """How often a translation that people accept scores above one that they reject, ties counting half.

    The area under the ROC curve, for judgements that are yes or no: over all entries, whatever `by` says; NaN where
    people's scores have another number of values than two.
    """
    return _of_each_table(human, metric, lambda table: auc_of_sums(auc_rows(human, table).sum(axis=0)))


def auc_rows(human: ArrayLike, metric: ArrayLike) -> Array:
    """Of every item: the accepted entries' placements and their count, the rejected ones', and the AUC for each entry.

    An entry's placement is the share of the other kind that it is on the right side of. Drawing them leaves placements
    as they are, so a bootstrap has DeLong's variance (DeLong et al. 1988), and placements of two metrics share a scale.
    """
    judged, scored = as_table(human), as_table(metric)
    known = ~np.isnan(judged + scored)
    placement = np.full(judged.shape, np.nan)
    accepted = known & (judged == np.nanmax(np.where(known, judged, np.nan), initial=-np.inf))
    if is_yes_or_no(judged[known]):
        for own, others, sign in ((accepted, known & ~accepted, 1), (known & ~accepted, accepted, -1)):
            ranked, values = np.sort(sign * scored[others]), sign * scored[own]
            below, upto = (np.searchsorted(ranked, values, side=side) for side in ("left", "right"))
            placement[own] = (below + upto) / (2 * ranked.size)
    parts = [np.where(some, part, 0.0) for some in (accepted, known & ~accepted) for part in (placement, 1.0)]
    parts += [np.where(known, placement[accepted].mean() if accepted.any() else np.nan, 0.0), known.astype(np.float64)]
    return np.asarray(np.stack(parts, axis=-1).sum(axis=0))


def auc_of_sums(sums: Array) -> Array:
    """The AUC of summed rows, (…, 6) → (…): both means of placements less the AUC that they have been placed by."""
    accepted, rejected, whole = (ratio(sums[..., at], sums[..., at + 1]) for at in (0, 2, 4))
    return np.asarray(accepted + rejected - whole)


def is_yes_or_no(scores: Array) -> bool:
    """Whether scores have two values only."""
    return len(np.unique(scores)) == 2


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
    "auc": auc,
}
"""Statistics by name, all called as `statistic(human, metric, by)`. DARR has pairs for input: see `darr`."""


def agreement(name: str) -> Callable[..., Array]:
    """The statistic of that name."""
    if name not in AGREEMENTS:
        raise UserError(f"no agreement statistic is called '{name}'. {did_you_mean(name, AGREEMENTS)}")
    return AGREEMENTS[name]
