"""The one p-value of this package: how often chance alone does at least as much as was seen; and several at once."""

from collections.abc import Iterable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from babelquake.errors import UserError, did_you_mean

Array = NDArray[np.float64]
Alternative = Literal["two-sided", "greater", "less"]


def p_value(
    null: ArrayLike,
    observed: float,
    alternative: Alternative = "two-sided",
    *,
    segments: int | None = None,
    exhaustive: bool = False,
) -> float:
    """The p-value of a difference among differences drawn under the null hypothesis.

    Counted is |δ*| ≥ |δ|, or δ* ≥ δ (`greater`), or δ* ≤ δ (`less`), and p = (count + 1)/(draws + 1), never 0 (Davison
    & Hinkley 1997 §4.2); where `null` holds every arrangement there is (`exhaustive`), p = count/arrangements.

    n segments whose sides can be exchanged have 2ⁿ arrangements, so no test on them is surer than 2^(1 − n), one-sided
    2⁻ⁿ: p is never below that. Draws on which the difference is not defined are left out; NaN where none is left.
    """
    drawn = np.asarray(null, dtype=np.float64)
    drawn = drawn[np.isfinite(drawn)]
    if drawn.size == 0 or not np.isfinite(observed):
        return float("nan")
    count = int(at_least(extremity(drawn, alternative), extremity(observed, alternative)).sum())
    p = count / drawn.size if exhaustive else (count + 1) / (drawn.size + 1)
    return p if segments is None else max(p, smallest_p(segments, alternative))


def p_words(p: float) -> str:
    """A p-value as the field writes it: `p = .013`, and `p < .001` below that."""
    return "p < .001" if p < 0.001 else f"p = {p:.3f}".replace("0.", ".", 1)


def smallest_p(segments: int, alternative: Alternative = "two-sided") -> float:
    """The smallest p-value that exchanging the sides of n segments can give."""
    return min(1.0, 2.0 ** (1 - segments if alternative == "two-sided" else -segments))


def extremity(differences: ArrayLike, alternative: Alternative) -> Array:
    """How far differences point to where a finding would be."""
    values = np.asarray(differences, dtype=np.float64)
    if alternative == "two-sided":
        return np.abs(values)
    if alternative not in ("greater", "less"):
        known = ("two-sided", "greater", "less")
        raise UserError(f"no alternative is called '{alternative}'. {did_you_mean(str(alternative), known)}")
    return values if alternative == "greater" else -values


def at_least(drawn: Array, bound: ArrayLike) -> NDArray[np.bool_]:
    """`drawn >= bound`, where values equal but for rounding count as equal."""
    limit = np.asarray(bound, dtype=np.float64)
    return np.asarray(drawn >= limit - 1e-12 * np.clip(np.abs(limit), 1.0, 1e300))


def benjamini_hochberg(p_values: Iterable[float | None]) -> Array:
    """Benjamini–Hochberg's step-up adjustment, which bounds the share of false findings (Benjamini & Hochberg 1995).

    `None` or NaN means not tested: it stays NaN and the family is smaller.
    With p₍₁₎ ≤ … ≤ p₍ₘ₎: adjusted p₍ᵢ₎ = min(1, min over j ≥ i of m/j · p₍ⱼ₎).
    """
    values = np.array([np.nan if p is None else p for p in p_values], dtype=np.float64)
    tested = np.flatnonzero(~np.isnan(values))
    family = values[tested]
    if np.any((family < 0) | (family > 1)):
        wrong = family[(family < 0) | (family > 1)][0]
        raise UserError(f"a p-value lies between 0 and 1; {wrong:g} was given.")
    order = np.argsort(family, kind="stable")
    steps = family[order] * family.size / np.arange(1, family.size + 1)
    adjusted = np.full(values.shape, np.nan)
    adjusted[tested[order]] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0)
    return adjusted
