"""How far judgements can be relied on: people against each other, prompts against each other, marks against marks.

Krippendorff's α and the correlation of every two raters say how well people agree.

Components of variance say how much of a table is due to its columns, to its rows and to the rest. For a table
y[row, column] without gaps, such as scores by source and prompt, and the random model y = µ + row + column + rest, the
mean squares estimate the variances (Searle, Casella & McCulloch 1992 §4.3): σ²(column) = (MS columns − MS rest) / rows,
σ²(row) = (MS rows − MS rest) / columns. Intervals come from the χ² distribution of the mean squares: that over columns
is wide where there are few of them.

Marked errors agree by precision, recall and F₁ of characters, with severity (WMT25 evaluation task, task 2). Every
character of a translation counts how many major and how many minor errors cover it, as people marked them and as the
judge did. A character marked alike earns full credit, one marked with the wrong severity half. Summed over all
translations: precision = credit / characters that the judge marked, recall = credit / characters that people marked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from babelquake.stats.agreement import Array, ratio


def krippendorff(units: ArrayLike, values: ArrayLike, level: Literal["interval", "nominal"] = "interval") -> float:
    """Krippendorff's α = 1 − D_o / D_e: observed disagreement within units over that expected by chance.

    `units` says what each of the `values` is a judgement of; units judged once are left out (Krippendorff 2011,
    "Computing Krippendorff's alpha-reliability"). Interval differences are squared, nominal ones are 0 or 1. 1 is
    perfect agreement, 0 what chance gives; NaN where nothing was judged twice or all values are the same.
    """
    scores = np.asarray(values, dtype=np.float64)
    _, places = np.unique(np.asarray(units), return_inverse=True)
    known = ~np.isnan(scores)
    counts = np.bincount(places[known], minlength=places.max(initial=-1) + 1)
    used = known & (counts[places] > 1)
    if not used.any():
        return float("nan")
    scores, places = scores[used], places[used]
    counts = np.bincount(places)
    disagreement = _squares if level == "interval" else _mismatches
    observed = (disagreement(places, scores) / np.maximum(counts - 1, 1)).sum() / scores.size
    expected = disagreement(np.zeros(scores.size, dtype=np.int64), scores)[0] / (scores.size * (scores.size - 1))
    return float(1.0 - ratio(observed, np.asarray(expected)))


def _squares(places: NDArray[np.int64], scores: Array) -> Array:
    """Sum over ordered pairs of squared differences within each group: 2(n Σv² − (Σv)²)."""
    values = scores - scores.mean()
    n, total = np.bincount(places), np.bincount(places, values)
    return np.asarray(2.0 * (n * np.bincount(places, values**2) - total**2))


def _mismatches(places: NDArray[np.int64], scores: Array) -> Array:
    """Ordered pairs of unequal values within each group: n² − Σ of squared counts."""
    _, kinds = np.unique(scores, return_inverse=True)
    table = np.zeros((places.max() + 1, kinds.max() + 1))
    np.add.at(table, (places, kinds), 1.0)
    return np.asarray(table.sum(axis=1) ** 2 - (table**2).sum(axis=1))


@dataclass(frozen=True)
class RaterPairs:
    """Mean correlations over pairs of raters, weighted by what they judged in common."""

    pearson: float
    kendall: float
    pairs: int
    common: int
    """Judgements in common, summed over the pairs."""


def rater_pairs(judged: Mapping[str, Mapping[str, float]], least: int = 10) -> RaterPairs:
    """Pearson's r and Kendall's τ-b of every two raters with at least `least` units in common.

    `judged` maps raters to their scores by unit. Pairs in which one rater gave the same score throughout are left out.
    """
    from scipy.stats import kendalltau

    found = []
    for one, other in combinations(judged.values(), 2):
        common = [unit for unit in one if unit in other]
        if len(common) < least:
            continue
        first, second = (np.array([scores[unit] for unit in common]) for scores in (one, other))
        if np.ptp(first) and np.ptp(second):
            r = float(np.corrcoef(first, second)[0, 1])
            found.append((r, float(kendalltau(first, second).statistic), len(common)))
    if not found:
        return RaterPairs(float("nan"), float("nan"), 0, 0)
    table = np.array(found)
    pearson, kendall = np.average(table[:, :2], axis=0, weights=table[:, 2])
    return RaterPairs(float(pearson), float(kendall), len(found), int(table[:, 2].sum()))


LEVEL = 0.95


class Component(NamedTuple):
    """A standard deviation and its interval."""

    value: float
    low: float
    high: float


def components(table: Array) -> tuple[Component, Component, Component]:
    """Standard deviations of the columns' effects, of the rows' effects and of the rest, with 95 % intervals."""
    rows, columns = table.shape
    mean, of_rows, of_columns = table.mean(), table.mean(axis=1), table.mean(axis=0)
    rest = table - of_rows[:, None] - of_columns[None, :] + mean
    freedom = (rows - 1) * (columns - 1)
    noise = float((rest**2).sum() / freedom)
    by_column = float(rows * ((of_columns - mean) ** 2).sum() / (columns - 1))
    by_row = float(columns * ((of_rows - mean) ** 2).sum() / (rows - 1))
    return (
        _component(by_column, columns - 1, noise, rows),
        _component(by_row, rows - 1, noise, columns),
        _component(noise, freedom, 0.0, 1),
    )


def _component(square: float, freedom: int, noise: float, times: int) -> Component:
    from scipy.special import gammaincinv

    # twice the quantile of a gamma distribution is that of χ²
    ends = [square * freedom / float(2 * gammaincinv(freedom / 2, p)) for p in ((1 + LEVEL) / 2, (1 - LEVEL) / 2)]
    value, low, high = (float(np.sqrt(max(0.0, one - noise) / times)) for one in (square, *ends))
    return Component(value, low, high)


WRONG_SEVERITY = 0.5
"""The credit of a character that both marked, one as major and the other as minor."""


class Mark(NamedTuple):
    """An error in a translation, from its first character to the one after its last."""

    start: int
    end: int
    major: bool


def span_row(gold: Sequence[Mark], marked: Sequence[Mark], length: int | None = None) -> tuple[float, float, float]:
    """Of one translation: the credit, the characters marked by people, those marked by the judge.

    What lies beyond the translation's `length` counts for nobody.
    """
    if length is None:
        length = max((mark.end for mark in (*gold, *marked)), default=0)
    by_people, by_judge = _cover(gold, length), _cover(marked, length)
    alike = np.minimum(by_people, by_judge)
    left = np.minimum((by_people - alike).sum(axis=0), (by_judge - alike).sum(axis=0))
    return float(alike.sum() + WRONG_SEVERITY * left.sum()), float(by_people.sum()), float(by_judge.sum())


def span_precision(sums: Array) -> Array:
    """The share of marked characters that are right; 1 where the judge marks nothing."""
    return _share(sums[..., 0], sums[..., 2])


def span_recall(sums: Array) -> Array:
    """The share of the characters that people marked; 1 where they marked nothing."""
    return _share(sums[..., 0], sums[..., 1])


def span_f1(sums: Array) -> Array:
    """The harmonic mean of precision and recall, 0 where both are 0."""
    precision, recall = span_precision(sums), span_recall(sums)
    both = precision + recall
    return np.asarray(2 * precision * recall / np.where(both > 0, both, 1.0))


SPAN_FORMULAS = {"span_precision": span_precision, "span_recall": span_recall, "span_f1": span_f1}
"""Functions of summed rows, shape (…, 3) → (…)."""


def _cover(marks: Sequence[Mark], length: int) -> Array:
    """How many errors, major and minor, cover each character."""
    cover = np.zeros((2, length))
    for mark in marks:
        cover[0 if mark.major else 1, max(mark.start, 0) : mark.end] += 1
    return cover


def _share(part: Array, whole: Array) -> Array:
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), 1.0)
