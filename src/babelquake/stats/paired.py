"""Is one system better than another on the same segments? Paired bootstrap and paired approximate randomisation.

Both work for every function of summed statistics. `first` and `second` are lists of tables, one table where the
compared number is a plain score, several where it depends on several (ROBUST: the perturbed and the clean one). δ is
f(first) − f(second), δ* its value on a draw; a p-value is (draws at least as extreme + 1)/(draws + 1), so it is never
0 (Davison & Hinkley 1997 §4.2).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from babelquake.errors import UserError, did_you_mean
from babelquake.stats.bootstrap import (
    Array,
    Estimate,
    Function,
    Resampled,
    applied,
    bootstrap,
    same_segments,
    weighted_sums,
)
from babelquake.stats.resampling import swap_masks

Alternative = Literal["two-sided", "greater", "less"]
BootstrapAlternative = Literal["two-sided", "greater", "less", "sacrebleu"]


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
    alternative: BootstrapAlternative = "two-sided",
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Comparison:
    """Paired bootstrap (Koehn 2004 §4): the same resampled segments for both sides.

    `alternative` says which difference would be a finding, and so which draws speak against it:

    - `greater` (first is larger; Koehn's own test): δ* ≤ 0
    - `less`: δ* ≥ 0
    - `two-sided`: |δ* − mean δ*| ≥ |δ|, the distribution shifted to where the null hypothesis puts it
    - `sacrebleu`: |δ*| − mean |δ*| > |δ|, as sacreBLEU's `--paired-bs` counts. It sees one tail only and so gives
      about half of the two-sided p-value; it is here for comparison with published numbers.

    `second_function` is for sides that are not the same function of their tables.
    """
    same_segments([*first, *second])
    one = bootstrap(function, first, resamples, seed)
    two = bootstrap(second_function or function, second, resamples, seed)
    difference = one - two
    p = bootstrap_p(difference, alternative)
    return Comparison(one.value, two.value, difference.value, p, difference.estimate(level))


def bootstrap_p(difference: Resampled, alternative: BootstrapAlternative = "two-sided") -> float:
    """The p-value of a bootstrapped difference; see `paired_bootstrap` for what each alternative counts.

    Draws on which the difference is not defined are left out; NaN where none is left.
    """
    drawn, observed = difference.values[np.isfinite(difference.values)], abs(difference.value)
    if drawn.size == 0 or not np.isfinite(observed):
        return float("nan")
    if alternative == "sacrebleu":
        size = np.abs(drawn)
        return exceeding_share(size - size.mean() > observed)
    if alternative == "two-sided":
        return exceeding_share(at_least(np.abs(drawn - drawn.mean()), observed))
    return exceeding_share(drawn <= 0 if _is_greater(alternative) else drawn >= 0)


def paired_randomisation(
    function: Function,
    first: Sequence[ArrayLike],
    second: Sequence[ArrayLike],
    *,
    alternative: Alternative = "two-sided",
    draws: int = 1000,
    seed: int = 0,
) -> Comparison:
    """Paired approximate randomisation (Noreen 1989; Riezler & Maxwell 2005 §4): each segment changes sides or not.

    If the systems were exchangeable, swapping their rows for a random half of the segments would change nothing. With
    swap masks M, the sums are ΣA + M(B − A) and ΣB − M(B − A). Counted is |δ*| ≥ |δ|; one-sided, δ* ≥ δ (`greater`)
    or δ* ≤ δ.
    """
    rows, others = same_segments(first), same_segments(second)
    if rows.shape != others.shape:
        raise UserError(
            f"approximate randomisation swaps rows, so both sides need tables of the same shape; "
            f"found {rows.shape} and {others.shape} (segments, width)."
        )
    moved = weighted_sums(others - rows, swap_masks(len(rows), draws, seed), draws)
    value, other = (float(applied(function, first, table.sum(axis=0))) for table in (rows, others))
    drawn = applied(function, first, rows.sum(axis=0) + moved) - applied(function, first, others.sum(axis=0) - moved)
    return Comparison(value, other, value - other, randomisation_p(drawn, value - other, alternative))


def randomisation_p(drawn: Array, observed: float, alternative: Alternative = "two-sided") -> float:
    """The p-value of a difference among differences drawn under the null hypothesis."""
    drawn = drawn[np.isfinite(drawn)]
    if drawn.size == 0 or not np.isfinite(observed):
        return float("nan")
    if alternative == "two-sided":
        return exceeding_share(at_least(np.abs(drawn), abs(observed)))
    return exceeding_share(at_least(drawn, observed) if _is_greater(alternative) else at_least(-drawn, -observed))


def at_least(drawn: Array, bound: float) -> NDArray[np.bool_]:
    """`drawn >= bound`, where values equal but for rounding count as equal."""
    return drawn >= bound - 1e-12 * max(1.0, abs(bound))


def exceeding_share(extreme: NDArray[np.bool_]) -> float:
    """(count + 1)/(draws + 1)."""
    return (int(extreme.sum()) + 1) / (extreme.size + 1)


def _is_greater(alternative: str) -> bool:
    if alternative not in ("greater", "less"):
        known = ("two-sided", "greater", "less")
        raise UserError(f"no alternative is called '{alternative}'. {did_you_mean(alternative, known)}")
    return alternative == "greater"
