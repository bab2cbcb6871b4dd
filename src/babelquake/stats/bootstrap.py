"""Bootstrap over segments for any function of summed statistics (Efron & Tibshirani 1993; Koehn 2004).

A scorer's corpus score is a function of column sums of its segment statistics, so a resample with counts c has the
score f(c·S₁, c·S₂, …) where each Sᵢ has one row per segment. One matrix product serves BLEU, chrF, means, ratios such
as ROBUST = 100 · f(S_perturbed)/f(S_clean) and harmonic means such as CONSIS.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from babelquake.errors import UserError
from babelquake.stats.resampling import Counts, resample_counts

Array = NDArray[np.float64]
Function = Callable[..., ArrayLike]
"""Takes one array of sums per table, each (…, width of the table), and gives scores, shape (…)."""

EXACT_IN_FLOAT32 = 2**24
ONE_THREAD = 1 << 18
"""Multiplications up to which a matrix product stays in one thread: waking others costs more than it saves here."""


@dataclass(frozen=True)
class Estimate:
    """A number with its bootstrap distribution in brief; `low` and `high` are the percentile interval."""

    value: float
    mean: float
    sd: float
    low: float
    high: float


@dataclass(frozen=True)
class Resampled:
    """The value on the data itself and the values on the resamples."""

    value: float
    values: Array

    def estimate(self, level: float = 0.95) -> Estimate:
        """Mean, standard deviation (n − 1) and the percentile interval that holds `level` of the resamples.

        Resamples on which the function is not defined (a correlation of constants, say) are left out.
        """
        if not 0 < level < 1:
            raise UserError(f"a confidence level lies between 0 and 1, for example 0.95; {level} was given.")
        values = self.values[np.isfinite(self.values)]
        if values.size == 0:
            return Estimate(self.value, np.nan, np.nan, np.nan, np.nan)
        low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
        sd = values.std(ddof=1) if values.size > 1 else np.nan
        return Estimate(self.value, float(values.mean()), float(sd), float(low), float(high))

    def __sub__(self, other: "Resampled") -> "Resampled":
        """The difference, resample by resample; meaningful where both used the same seed and segments."""
        return Resampled(self.value - other.value, self.values - other.values)


def bootstrap(function: Function, tables: Sequence[ArrayLike], resamples: int = 1000, seed: int = 0) -> Resampled:
    """`function` of the column sums of `tables` (each segments × width), on the data and on every resample.

    For one scorer: `bootstrap(scorer.aggregate, [scorer.statistics(batch)])`. All tables are resampled together.
    """
    rows = same_segments(tables)
    observed = applied(function, tables, rows.sum(axis=0))
    return Resampled(float(observed), applied(function, tables, resampled_sums(rows, resamples, seed)))


def resampled_sums(rows: Array, resamples: int = 1000, seed: int = 0) -> Array:
    """Column sums of `rows` over every resample, shape (resamples, width); counts are streamed, never held at once."""
    return weighted_sums(rows, resample_counts(len(rows), resamples, seed), resamples)


def weighted_sums(rows: Array, blocks: Iterable[Counts], draws: int) -> Array:
    """`weights @ rows` for weights that come in blocks of small whole numbers; exact where `rows` are whole numbers.

    Whole numbers whose sums stay below 2²⁴ are multiplied in single precision, which loses nothing.
    """
    whole = bool(np.all(rows == np.rint(rows)))
    exact = whole and len(rows) * float(np.abs(rows).max(initial=0.0)) < EXACT_IN_FLOAT32
    factor = rows.astype(np.float32 if exact else np.float64)
    step = max(1, min(draws, ONE_THREAD // max(1, factor.size)))
    weights = np.empty((step, len(rows)), dtype=factor.dtype)
    sums = np.empty((draws, rows.shape[1]))
    done = 0
    for block in blocks:
        for start in range(0, len(block), step):
            part = block[start : start + step]
            weights[: len(part)] = part
            sums[done : done + len(part)] = weights[: len(part)] @ factor
            done += len(part)
    return sums


def same_segments(tables: Sequence[ArrayLike]) -> Array:
    """The tables side by side, one row per segment; a vector counts as a table of width one."""
    arrays = [_table(table) for table in tables]
    lengths = sorted({len(array) for array in arrays})
    if len(lengths) != 1 or lengths == [0]:
        raise UserError(
            f"statistics that are resampled together need the same segments, at least one; found {lengths} rows."
        )
    return np.concatenate(arrays, axis=1)


def applied(function: Function, tables: Sequence[ArrayLike], sums: Array) -> Array:
    """`function` called with `sums` cut back into one part per table; checked to give one score per row of sums."""
    cuts = np.cumsum([_table(table).shape[1] for table in tables])[:-1]
    scores = np.asarray(function(*np.split(sums, cuts, axis=-1)), dtype=np.float64)
    if scores.shape != sums.shape[:-1]:
        raise UserError(
            f"a function of sums must give one score per resample: shape {sums.shape[:-1]} was expected, "
            f"{scores.shape} came back."
        )
    return scores


def _table(table: ArrayLike) -> Array:
    array = np.asarray(table, dtype=np.float64)
    return array[:, None] if array.ndim == 1 else array
