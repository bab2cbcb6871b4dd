"""Does one metric agree with humans better than another? Permutation tests for the difference of two agreements.

PERM-BOTH (Deutsch et al. 2021, "A Statistical Analysis of Summarization Evaluation Metrics Using Resampling Methods",
§5.2): if the metrics were equally good, their standardised scores could be exchanged. Each draw exchanges every
single (system, item) entry with probability one half, PERM-SYS whole systems, PERM-INPUT whole items; δ* is the
difference of agreements after the exchange. mt-metrics-eval's test is `swap="entry"` with `alternative="less"` for
its order of metrics.
"""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from babelquake.errors import UserError, did_you_mean
from babelquake.stats.agreement import agreement, moments, pearson_of_moments
from babelquake.stats.groups import Array, By, z_scores
from babelquake.stats.paired import Comparison, paired_randomisation
from babelquake.stats.pvalues import Alternative, p_value
from babelquake.stats.resampling import Draws, keys_by_place

Swap = Literal["entry", "system", "item"]
Agreement = Callable[[Array], ArrayLike]
"""Takes metric scores (…, systems, items) and gives agreements (…); the human scores are its own."""

ENTRIES = 1 << 18
"""Entries per block of draws."""


def permutation_test(
    agree: Agreement,
    first: ArrayLike,
    second: ArrayLike,
    *,
    human: ArrayLike | None = None,
    swap: Swap = "entry",
    alternative: Alternative = "two-sided",
    draws: int = 1000,
    seed: int = 0,
) -> Comparison:
    """PERM-BOTH for any agreement, e.g. `permutation_test(lambda m: pearson(human, m), first, second, human=human)`.

    Both metrics are first standardised over the entries that both have and that `human`, where given, has too.
    `greater` asks whether the first agrees better: the share of δ* ≥ δ.
    """
    one, two = _standardised(first, second, human)
    value, other = (float(np.asarray(agree(table))) for table in (one, two))
    coins = _coins(one.shape, swap)
    rows = max(1, ENTRIES // one.size)
    drawn: list[Array] = []
    for block in Draws(keys_by_place(math.prod(coins)), "swap", seed).rows(draws):
        for start in range(0, len(block), rows):
            exchanged = block[start : start + rows].reshape(-1, *coins).view(np.bool_)
            left, right = np.where(exchanged, two, one), np.where(exchanged, one, two)
            drawn.append(np.asarray(agree(left)) - np.asarray(agree(right)))
    difference = value - other
    return Comparison(value, other, difference, p_value(np.concatenate(drawn), difference, alternative))


def compare_agreement(
    statistic: str,
    human: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    by: By | None = None,
    swap: Swap = "entry",
    alternative: Alternative = "two-sided",
    draws: int = 1000,
    seed: int = 0,
) -> Comparison:
    """`permutation_test` for a statistic by its name in `AGREEMENTS`; `by` as the statistic has it unless given."""
    function = agreement(statistic)
    if statistic == "pearson" and by in (None, "none"):
        return _compare_pearson(human, first, second, swap, alternative, draws, seed)

    def agree(metric: Array) -> Array:
        return function(human, metric) if by is None else function(human, metric, by)

    return permutation_test(
        agree, first, second, human=human, swap=swap, alternative=alternative, draws=draws, seed=seed
    )


def _compare_pearson(
    human: ArrayLike, first: ArrayLike, second: ArrayLike, swap: Swap, alternative: Alternative, draws: int, seed: int
) -> Comparison:
    """PERM-BOTH for Pearson's r over all entries: a paired randomisation of moments, which sum over whatever swaps."""
    judged = np.asarray(human, dtype=np.float64)
    coins = _coins(judged.shape, swap)
    summed = tuple(axis for axis, size in enumerate(coins) if size == 1 and swap != "entry")
    one, two = (moments(judged, table).sum(axis=summed).reshape(-1, 6) for table in _standardised(first, second, human))
    return paired_randomisation(pearson_of_moments, [one], [two], alternative=alternative, draws=draws, seed=seed)


def _standardised(first: ArrayLike, second: ArrayLike, human: ArrayLike | None) -> tuple[Array, Array]:
    """z-scores of both metrics over the entries judged and scored by all; NaN elsewhere."""
    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    judged = np.zeros(one.shape) if human is None else np.asarray(human, dtype=np.float64)
    if not one.shape == two.shape == judged.shape or one.size == 0:
        raise UserError(
            f"comparing metrics needs scores of the same systems and items; "
            f"found {one.shape} and {two.shape} for human scores {judged.shape}."
        )
    known = ~np.isnan(one + two + judged)
    return z_scores(one, known), z_scores(two, known)


def _coins(shape: tuple[int, ...], swap: Swap) -> tuple[int, ...]:
    """The shape of one draw's coin flips, which then spread over the table."""
    if swap not in ("entry", "system", "item"):
        raise UserError(f"metrics cannot swap by '{swap}'. {did_you_mean(str(swap), ('entry', 'system', 'item'))}")
    if swap == "entry":
        return shape
    if len(shape) != 2:
        raise UserError(f"swapping by {swap} needs a table of systems × items; a vector of scores was given.")
    return (shape[0], 1) if swap == "system" else (1, shape[1])
