"""One question put to chance, by the test that is honest for its number of segments.

The bootstrap's p-values are too small where there are few segments (at nominal .05 its type I error is .14 with 6, .10
with 10). Randomisation keeps its level at any size. So, by the number of segments in which the two sides differ at all:

- none: there is nothing to find, p = 1;
- up to `EXHAUSTIVE`: every arrangement of sides is tried, and the p-value is exact, whatever the seed;
- below `FEW`: random arrangements;
- more: the bootstrap.

Arrangements exchange the two sides' rows of a segment (`exchange_test`, where the null hypothesis says that the sides
are exchangeable, as a text and its perturbed version are), or flip the sign of what each segment contributes to a
difference (`difference_test`, for differences of ratios, averages over probes and the like). Where differences are
lopsided, arrangements alone find too much: below `FEW`, p is also no smaller than that of `unskewed_p`. Nor is that of
a difference whose contributions are known, however many segments there are: at 100 the bootstrap's tails are still
shorter than Student's.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import erfc, sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from babelquake.stats.bootstrap import Array, Function, Resampled, applied, in_order, same_segments, weighted_sums
from babelquake.stats.paired import exchanged, sides
from babelquake.stats.pvalues import Alternative, p_value, smallest_p
from babelquake.stats.resampling import Draws, Keys, least_draws
from babelquake.stats.skewness import unskewed_p

FEW = 50
MANY = 2000
"""Segments from which on the bootstrap's tails are those of Student's t."""
EXHAUSTIVE = 13
"""Segments up to which all 2ⁿ arrangements are tried."""

Method = Literal["nothing differs", "exact", "randomisation", "bootstrap", "undefined"]
Changed = NDArray[np.bool_]


@dataclass(frozen=True)
class Test:
    """A difference, what chance makes of it where there is nothing to find, and the p-value on its own."""

    __test__ = False

    value: float
    null: Array
    segments: int
    """The units of chance."""
    changed: int
    """Those in which the two sides differ."""
    p: float
    method: Method
    alternative: Alternative = "two-sided"
    student: float = 0.0
    """By Student's t with the skewness taken out, where the bootstrap alone would be too sure; 0 elsewhere."""

    @property
    def smallest(self) -> float:
        """The smallest p-value that this many segments could have given."""
        return smallest_p(self.segments, self.alternative)


def exchange_test(
    function: Function,
    first: Sequence[ArrayLike],
    second: Sequence[ArrayLike],
    resampled: Resampled,
    *,
    seed: int = 0,
    keys: Keys | None = None,
    alternative: Alternative = "two-sided",
    few: float = FEW,
) -> Test:
    """f(first) − f(second) where the two sides' rows could be exchanged; `resampled` is its bootstrap."""
    rows, others = sides(first, second)
    changed = (rows != others).any(axis=1)
    count, draws = int(changed.sum()), resampled.values.size
    if not 0 < count < few:
        return bootstrap_test(resampled, len(rows), count, alternative)
    together, keys = in_order(np.concatenate([rows, others], axis=1), keys)
    rows, others = np.split(together, 2, axis=1)
    changed = (rows != others).any(axis=1)
    whole = rows.sum(axis=0), others.sum(axis=0)
    if count <= EXHAUSTIVE:
        moved = arrangements(count) @ (others - rows)[changed]
        every = applied(function, first, whole[0] + moved) - applied(function, first, whole[1] - moved)
        p = p_value(every, resampled.value, alternative, segments=len(rows), exhaustive=True)
    drawn = exchanged(function, first, rows, others, draws, seed, keys)
    if count > EXHAUSTIVE:
        p = p_value(drawn, resampled.value, alternative, segments=len(rows))
    if count < FEW:
        left = applied(function, first, whole[0] - rows[changed]) - applied(function, first, whole[1] - others[changed])
        whole_gap = applied(function, first, whole[0]) - applied(function, first, whole[1])
        p = max(p, unskewed_p(pseudo_values(whole_gap, left, len(rows)), alternative))
    method: Method = "exact" if count <= EXHAUSTIVE else "randomisation"
    return Test(resampled.value, drawn, len(rows), count, p, method, alternative)


def difference_test(
    resampled: Resampled,
    contributions: ArrayLike | Callable[[], Array | None],
    *,
    changed: Changed | None = None,
    seed: int = 0,
    keys: Keys | None = None,
    alternative: Alternative = "two-sided",
    few: float = FEW,
    arranged: Array | None = None,
) -> Test:
    """A difference that is a sum of what segments contribute, at least nearly (see `jackknife`).

    Under the null hypothesis a contribution is as likely to be positive as negative. `changed` tells in which segments
    the two sides differ at all; the others contribute nothing. Expensive contributions may be given as a function,
    which is asked only where they are needed; where it has none, few differing segments bound the bootstrap's p.
    `arranged` are differences after whole rows of random segments changed sides: of a number that is far from a sum,
    such as BLEU on few segments, they are the exact ones; the contributions of such a number add up to another one, of
    which and itself the one nearer to zero is tested where there are none.
    """
    parts = None if callable(contributions) else np.asarray(contributions, dtype=np.float64)
    if changed is None:
        if parts is None:
            raise ValueError("contributions that come when asked for need `changed`")
        changed = np.abs(parts) > 1e-12 * np.abs(parts).max(initial=0.0)
    count, segments = int(changed.sum()), len(changed)
    if callable(contributions) and 0 < count < MANY:
        parts = contributions()
    if not 0 < count < few:
        found = bootstrap_test(resampled, segments, count, alternative)
        if found.method != "bootstrap" or parts is None or not np.isfinite(parts).all():
            return found
        student = unskewed_p(parts, alternative) if count < MANY else 0.0
        return replace(found, student=student, p=max(found.p, student))
    if parts is None or not np.isfinite(parts[changed]).all():
        return bootstrap_test(resampled, count, count, alternative)
    parts = np.where(changed, parts, 0.0)
    ordered, known = in_order(parts[:, None], keys)
    exact = count <= EXHAUSTIVE
    if arranged is not None and not exact:
        observed, drawn = resampled.value, arranged
    else:
        total = float(parts.sum())
        observed = min(resampled.value, total, key=abs)
        drawn = total - 2 * weighted_sums(ordered, Draws(known, "swap", seed), resampled.values.size)[:, 0]
    every = total - 2 * (arrangements(count) @ parts[changed]) if exact else drawn
    p = p_value(every, observed, alternative, segments=segments, exhaustive=exact)
    p = max(p, unskewed_p(ordered[ordered[:, 0] != 0, 0], alternative))
    method: Method = "exact" if exact else "randomisation"
    return Test(observed, drawn, segments, count, p, method, alternative)


def jackknife(function: Function, tables: Sequence[ArrayLike]) -> Array:
    """What each segment contributes to a function of sums: its pseudo-value over n (Quenouille; Tukey 1958).

    ψᵢ = f(Σ) − (n − 1)/n · f(Σ without i). Of a mean, ψᵢ = xᵢ/n; in general Σψ is f with its first-order bias removed.
    """
    rows = same_segments(tables)
    total, n = rows.sum(axis=0), len(rows)
    if n < 2:
        return np.atleast_1d(applied(function, tables, total))
    return pseudo_values(applied(function, tables, total), applied(function, tables, total - rows), n)


def pseudo_values(whole: Array, without: Array, n: int) -> Array:
    """ψᵢ from a number on all of n segments and the numbers without one segment each."""
    return np.asarray(whole - (n - 1) / n * without)


def arrangements(count: int) -> Array:
    """All 2^count ways to exchange or keep, one a row."""
    numbers = np.arange(2**count, dtype=np.uint32)
    return ((numbers[:, None] >> np.arange(count, dtype=np.uint32)) & 1).astype(np.float64)


def bootstrap_test(resampled: Resampled, segments: int, changed: int, alternative: Alternative = "two-sided") -> Test:
    """The bootstrap's test, or none where nothing differs or nothing is defined."""
    null = resampled.null
    if changed == 0 and (resampled.value == 0 or not np.isfinite(resampled.value)):
        return Test(0.0, np.zeros_like(null), segments, 0, 1.0, "nothing differs", alternative)
    p = p_value(null, resampled.value, alternative, segments=segments)
    return Test(
        resampled.value, null, segments, changed, p, "bootstrap" if np.isfinite(p) else "undefined", alternative
    )


def normal_test(
    old: tuple[float, float | None], new: tuple[float, float | None], segments: int, alpha: float = 0.05
) -> Test:
    """The two-sided test of a difference between independent values with standard deviations: p = P(|Z| ≥ |z|).

    Its draws, for the correction, are normal quantiles in an order that depends on the values alone.
    """
    from scipy.special import ndtri

    value, spread = new[0] - old[0], sqrt((old[1] or 0.0) ** 2 + (new[1] or 0.0) ** 2)
    draws = max(1999, least_draws(alpha))
    if not spread:
        p = float("nan") if value else 1.0
        return Test(value, np.zeros(draws), segments, 0, p, "undefined" if value else "nothing differs")
    order = np.random.default_rng(abs(hash((round(old[0], 9), round(new[0], 9)))) % 2**32).permutation(draws)
    null = spread * ndtri((order + 0.5) / draws)
    return Test(value, null, segments, segments, erfc(abs(value) / spread / sqrt(2)), "bootstrap")
