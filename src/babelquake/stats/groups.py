"""Score tables cut into the groups within which agreement is measured.

Human and metric scores are tables of systems × items (items are segments), NaN where not judged. A metric table may
have further axes in front, one table per permutation say; agreement then has those axes. Following mt-metrics-eval:

- `none`: one group of all entries
- `item`: one group per segment, across systems (does the metric order the translations of a sentence?)
- `system`: one group per system, across segments
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from babelquake.errors import UserError, did_you_mean

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
