"""Soft pairwise accuracy: does a metric tell two systems apart as surely as people do? (Thompson et al. 2024)

For every two systems i < j, p is the one-sided p-value of "i is better than j" by exchanging their scores segment by
segment: once with people's scores, once with the metric's. The statistic is 1 − mean |p_human − p_metric|.

With d the differences of the two systems' scores, the exchanged sums Σ ±d have mean 0 and variance Σd², and for more
than a few segments they are normal: p = Φ(−Σd / √Σd²). That is where the p-values of mt-metrics-eval (`pce`) go as its
permutations grow, and a function of sums over segments: one bootstrap and one test serve it as they serve the others.
Where two systems have the same score on every segment nothing speaks for either: p = ½.
"""

import numpy as np
from numpy.typing import ArrayLike

from babelquake.stats.groups import Array, By, as_table, ratio, z_scores

SUMS = 5
"""Of each pair of systems: segments that both were judged on; Σd and Σd² of people's scores, and of the metric's."""


def soft_accuracy(human: ArrayLike, metric: ArrayLike, by: By = "item") -> Array:
    """Soft pairwise accuracy of scores as systems × items; it is of systems, whatever `by` says."""
    scores = np.asarray(metric, dtype=np.float64)
    lead = scores.shape[: scores.ndim - np.ndim(human)]
    found = [soft_accuracy_of_sums(soft_accuracy_rows(human, scores[at]).sum(axis=0)) for at in np.ndindex(lead)]
    return np.array(found).reshape(lead)


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
