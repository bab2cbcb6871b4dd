"""The one p-value of this package: how often chance alone does at least as much as was seen."""

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
