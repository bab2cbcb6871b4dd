"""Is one side better than the other on the same segments? Paired bootstrap and paired approximate randomisation.

Both work for every function of summed statistics. `first` and `second` are lists of tables, one table where the
compared number is a plain score, several where it depends on several (ROBUST: the perturbed and the clean one). δ is
f(first) − f(second), δ* its value on a draw. Studies use `testing`, which chooses between the two; these are for
comparisons outside a study (docs/statistics.md), and what parity with sacreBLEU's paired tests is shown on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from babelquake.errors import UserError
from babelquake.stats.bootstrap import (
    Array,
    Estimate,
    Function,
    applied,
    bootstrap,
    in_order,
    same_segments,
    weighted_sums,
)
from babelquake.stats.pvalues import Alternative, p_value
from babelquake.stats.resampling import Draws, Keys

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
