"""Bootstrap over segments for any function of summed statistics (Efron & Tibshirani 1993; Koehn 2004).

A scorer's corpus score is a function of column sums of its segment statistics, so a resample with counts c has the
score f(c·S₁, c·S₂, …) where each Sᵢ has one row per segment. One matrix product serves BLEU, chrF, means, ratios such
as ROBUST = 100 · f(S_perturbed)/f(S_clean) and harmonic means such as CONSIS. Counts are made tile by tile and never
held at once, so memory does not grow with the number of segments.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from babelquake.errors import UserError
from babelquake.stats.parallel import in_parallel
from babelquake.stats.resampling import DRAWS_AT_ONCE, SEGMENTS_AT_ONCE, Draws, Keys, keys_by_place

Array = NDArray[np.float64]
Factor = NDArray[np.floating[Any]]
Function = Callable[..., ArrayLike]
"""Takes one array of sums per table, each (…, width of the table), and gives scores, shape (…)."""
Block = Callable[[int, int], Array]
"""Takes the first of some draws and their number, and gives sums, shape (width, draws)."""

EXACT_IN_FLOAT32 = 2**24
LARGEST_COUNT = 9
"""Poisson(1) counts of 16 bits go no further."""
NEVER_EMPTY = 64
"""Segments from which on no resample is empty: e⁻⁶⁴."""
WORTH_THREADS = 1 << 21
"""Counts from which on the work is compiled and shared out between cores."""
ROWS_AT_ONCE = 1 << 16
ONE_THREAD = 1 << 18
"""Multiplications up to which a matrix product stays in one thread: the threads are ours, one per block of draws."""


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

    def summary(self) -> "Summary":
        """What is left to say of it when its resamples are not needed any more."""
        return Summary(self.value, self.values[:0], self.estimate())

    def __sub__(self, other: "Resampled") -> "Resampled":
        """The difference, resample by resample; meaningful where both used the same seed and segments."""
        return Resampled(self.value - other.value, self.values - other.values)

    @property
    def null(self) -> Array:
        """The resamples moved to where the null hypothesis puts them: their own mean taken off."""
        known = self.values[np.isfinite(self.values)]
        return self.values - known.mean() if known.size else self.values


@dataclass(frozen=True)
class Summary(Resampled):
    """A number whose resamples were summed up and given back: of thousands of cells they would fill the memory."""

    summed_up: Estimate

    def estimate(self, level: float = 0.95) -> Estimate:
        """What the resamples said."""
        return self.summed_up


def bootstrap(
    function: Function, tables: Sequence[ArrayLike], resamples: int = 1000, seed: int = 0, keys: Keys | None = None
) -> Resampled:
    """`function` of the column sums of `tables` (each segments × width), on the data and on every resample.

    For one scorer: `bootstrap(scorer.aggregate, [scorer.statistics(batch)])`. All tables are resampled together.
    `keys` tell which segment a row is; without them rows are known by their number.
    """
    rows = same_segments(tables)
    observed = applied(function, tables, rows.sum(axis=0))
    return Resampled(float(observed), applied(function, tables, resampled_sums(rows, resamples, seed, keys)))


def resampled_sums(rows: Array, resamples: int = 1000, seed: int = 0, keys: Keys | None = None) -> Array:
    """Column sums of `rows` over every resample, shape (resamples, width).

    A Poisson resample of n segments is empty with probability e⁻ⁿ; the data themselves stand in for it.
    """
    rows, keys = in_order(rows, keys)
    draws = Draws(keys, "resample", seed)
    if len(rows) > NEVER_EMPTY:
        return weighted_sums(rows, draws, resamples)
    drawn = weighted_sums(np.column_stack([rows, np.ones(len(rows))]), draws, resamples)
    drawn[drawn[:, -1] == 0, :-1] = rows.sum(axis=0)
    return np.ascontiguousarray(drawn[:, :-1])


def in_order(rows: Array, keys: Keys | None) -> tuple[Array, Keys]:
    """The rows by ascending key, so that sums do not depend on the order they came in, not even in the last bit."""
    if keys is None:
        return rows, keys_by_place(len(rows))
    if len(keys) != len(rows):
        raise UserError(f"every row needs the key of its segment; found {len(rows)} rows and {len(keys)} keys.")
    if np.all(keys[1:] >= keys[:-1]):
        return rows, keys
    order = np.argsort(keys, kind="stable")
    return rows[order], keys[order]


def weighted_sums(rows: Array, weights: Draws, draws: int) -> Array:
    """`weights @ rows`, shape (draws, width); exact where `rows` are whole numbers.

    Whole numbers whose sums over a tile stay below 2²⁴ are multiplied in single precision, which loses nothing.
    """
    if draws < 1:
        raise UserError(f"resampling needs at least 1 resample; {draws} were asked for.")
    largest = max(abs(float(rows.max(initial=0.0))), abs(float(rows.min(initial=0.0))))
    exact = _whole(rows) and SEGMENTS_AT_ONCE * LARGEST_COUNT * largest < EXACT_IN_FLOAT32
    many = len(rows) * draws > WORTH_THREADS
    sums = np.empty((rows.shape[1], draws))
    block = (_compiled if many and weights.chance == "resample" else _interpreted)(rows, weights, exact)

    def fill(first: int) -> None:
        wanted = min(DRAWS_AT_ONCE, draws - first)
        sums[:, first : first + wanted] = block(first, wanted)

    blocks = range(0, draws, DRAWS_AT_ONCE)
    for _ in in_parallel(fill, blocks) if many else map(fill, blocks):
        pass
    return np.ascontiguousarray(sums.T)


def _interpreted(rows: Array, weights: Draws, exact: bool) -> Block:
    """Sums with what NumPy has, for few segments: nothing needs to be compiled."""
    columns: Factor = np.ascontiguousarray(rows.T, dtype=np.float32 if exact else np.float64)
    return lambda first, draws: _by_tiles(
        columns, draws, lambda here: weights.tile(here, first, draws).astype(columns.dtype)
    )


def _compiled(rows: Array, weights: Draws, exact: bool) -> Block:
    """The same sums for many segments, on which cores work without waiting for each other."""
    from babelquake.stats.compiled_resampling import tile_of, whole_sums

    starts = weights.starts
    if exact:
        return lambda first, draws: whole_sums(rows, starts, first, draws)
    columns = np.ascontiguousarray(rows.T)
    return lambda first, draws: _by_tiles(columns, draws, lambda here: tile_of(starts[here], first, draws))


def _by_tiles(columns: Factor, draws: int, weights: Callable[[slice], Factor]) -> Array:
    """Sums of one block of draws, over all segments in their order."""
    width, segments = columns.shape
    total = np.zeros((width, draws))
    for start in range(0, segments, SEGMENTS_AT_ONCE):
        here = slice(start, min(start + SEGMENTS_AT_ONCE, segments))
        _add_product(columns[:, here], weights(here), total)
    return total


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
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.asarray(function(*np.split(sums, cuts, axis=-1)), dtype=np.float64)
    if scores.shape != sums.shape[:-1]:
        raise UserError(
            f"a function of sums must give one score per resample: shape {sums.shape[:-1]} was expected, "
            f"{scores.shape} came back."
        )
    return scores


def _whole(rows: Array) -> bool:
    """Whether all numbers are whole, looked at piece by piece."""
    pieces = (rows[start : start + ROWS_AT_ONCE] for start in range(0, len(rows), ROWS_AT_ONCE))
    return all(bool(np.all(piece == np.rint(piece))) for piece in pieces)


def _add_product(columns: Factor, weights: Factor, total: Array) -> None:
    """total += columns @ weights, in pieces small enough for one thread."""
    step = max(1, ONE_THREAD // max(1, columns.size))
    for start in range(0, weights.shape[1], step):
        total[:, start : start + step] += columns @ weights[:, start : start + step]


def _table(table: ArrayLike) -> Array:
    array = np.asarray(table, dtype=np.float64)
    return array[:, None] if array.ndim == 1 else array


def ratio_of(above: int, below: int, times: float = 1.0) -> Callable[[Array], Array]:
    """The function of sums that divides one column by another: a mean, a share (`times` 100), a ratio of means."""

    def ratio(sums: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(times * sums[..., above] / sums[..., below])

    return ratio


def of_table(number: int, function: Function) -> Function:
    """A function of the sums of one of several tables."""
    return lambda *sums: function(sums[number])
