"""Is one side better than the other on the same segments? One question put to chance, by the test that is honest.

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

`paired_bootstrap` and `paired_randomisation` compare two sides outside a study by one of the two (docs/statistics.md),
and are what parity with sacreBLEU's paired tests is shown on. All work for every function of summed statistics: `first`
and `second` are lists of tables, one table where the compared number is a plain score, several where it depends on
several (ROBUST: the perturbed and the clean one). δ is f(first) − f(second), δ* its value on a draw.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import erfc, sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from babelquake.errors import UserError
from babelquake.stats.bootstrap import (
    Array,
    Estimate,
    Function,
    Resampled,
    applied,
    bootstrap,
    in_order,
    same_segments,
    weighted_sums,
)
from babelquake.stats.pvalues import Alternative, p_value, smallest_p
from babelquake.stats.resampling import Draws, Keys, least_draws

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


@dataclass(frozen=True)
class Comparison:
    """Two values, their difference first − second, its p-value and, from a bootstrap, its interval."""

    first: float
    second: float
    difference: float
    p: float
    interval: Estimate | None = None


def paired_bootstrap(
    function: Function,
    first: Sequence[ArrayLike],
    second: Sequence[ArrayLike],
    *,
    second_function: Function | None = None,
    alternative: Alternative | Literal["sacrebleu"] = "two-sided",
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    keys: Keys | None = None,
) -> Comparison:
    """Paired bootstrap (Koehn 2004 §4): the same resampled segments for both sides, moved to a mean difference of 0.

    `alternative` says which difference would be a finding; `sacrebleu` counts |δ*| − mean |δ*| > |δ| as sacreBLEU's
    `--paired-bs` does. It sees one tail only and so gives about half of the two-sided p-value; it is here to
    compare with published numbers. `second_function` is for sides that are not the same function of their tables.
    """
    rows = same_segments([*first, *second])
    one = bootstrap(function, first, resamples, seed, keys)
    two = bootstrap(second_function or function, second, resamples, seed, keys)
    difference = one - two
    if alternative == "sacrebleu":
        size = np.abs(difference.values)
        p = p_value(size - size.mean(), abs(difference.value), "greater")
    else:
        p = p_value(difference.null, difference.value, alternative, segments=len(rows))
    return Comparison(one.value, two.value, difference.value, p, difference.estimate(level))


def paired_randomisation(
    function: Function,
    first: Sequence[ArrayLike],
    second: Sequence[ArrayLike],
    *,
    alternative: Alternative = "two-sided",
    draws: int = 1000,
    seed: int = 0,
    keys: Keys | None = None,
) -> Comparison:
    """Paired approximate randomisation (Noreen 1989; Riezler & Maxwell 2005 §4): each segment changes sides or not."""
    rows, others = sides(first, second)
    value, other = (float(applied(function, first, table.sum(axis=0))) for table in (rows, others))
    drawn = exchanged(function, first, rows, others, draws, seed, keys)
    p = p_value(drawn, value - other, alternative, segments=len(rows))
    return Comparison(value, other, value - other, p)


def exchanged(
    function: Function,
    tables: Sequence[ArrayLike],
    rows: Array,
    others: Array,
    draws: int,
    seed: int,
    keys: Keys | None,
) -> Array:
    """Differences after exchanging the two sides' rows of a random half of the segments.

    If the sides were exchangeable, that would change nothing. With swap masks M, the sums are ΣA + M(B − A) and
    ΣB − M(B − A). `tables` tell how rows are cut into what `function` takes.
    """
    together, known = in_order(np.concatenate([rows, others], axis=1), keys)
    rows, others = np.split(together, 2, axis=1)
    moved = weighted_sums(others - rows, Draws(known, "swap", seed), draws)
    return applied(function, tables, rows.sum(axis=0) + moved) - applied(function, tables, others.sum(axis=0) - moved)


def sides(first: Sequence[ArrayLike], second: Sequence[ArrayLike]) -> tuple[Array, Array]:
    """Both sides as one table each, of the same shape."""
    rows, others = same_segments(first), same_segments(second)
    if rows.shape != others.shape:
        raise UserError(
            f"randomisation exchanges rows, so both sides need tables of the same shape; "
            f"found {rows.shape} and {others.shape} (segments, width)."
        )
    return rows, others


LEAST_FOR_SKEWNESS = 3
"""Differences from which on a third moment says anything."""


def unskewed_p(contributions: ArrayLike, alternative: Alternative = "two-sided") -> float:
    """Student's p-value of a mean with the skewness γ taken out; 0, which bounds nothing, where there is no spread.

    Flipping signs is exact where a difference is as likely to be positive as negative. Where the differences have a
    mean of zero but a long tail on one side (few large falls among many small gains, say), it finds too much: .08
    instead of .05 with ten exponential differences. Hall's cubic transformation of Student's t (Hall 1992, "On the
    removal of skewness by transformation") takes the tail's effect out.

    g(T) = T + γT²/(3√n) + γ²T³/(27n) + γ/(6√n), T = √n·mean/sd, against Student's t with n − 1 degrees of freedom.
    Nothing is drawn, so the seed changes nothing.
    """
    from scipy.special import stdtr

    values = np.asarray(contributions, dtype=np.float64)
    n = values.size
    if n < LEAST_FOR_SKEWNESS:
        return 0.0
    centred = values - values.mean()
    variance = float(np.mean(centred**2))
    if variance <= (1e-9 * np.abs(values).max()) ** 2:
        return 0.0
    t = float(values.mean() * np.sqrt((n - 1) / variance))
    skew = 0.0 if _one_size(values) else float(np.mean(centred**3)) / variance**1.5 / np.sqrt(n)
    g = t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6
    above = float(stdtr(n - 1, -g))
    return {"two-sided": 2 * min(above, 1 - above), "greater": above, "less": 1 - above}[alternative]


def _one_size(values: NDArray[np.float64]) -> bool:
    """Whether all that differ from zero differ by the same, such as wins and losses: then there is no tail.

    With a mean of zero they are as likely to be positive as negative, and their skewness in the sample says only how
    far from zero the mean is. Taken for a tail it would forbid nearly every finding (2 wins of 18: .12 in place of
    .001; at nominal .05 and 18 of them .000 of findings where there is nothing to find, without it .026).
    """
    sizes = np.abs(values[values != 0])
    return bool(np.ptp(sizes) <= 1e-9 * sizes.max())
