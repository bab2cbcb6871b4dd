"""How well marked errors agree: precision, recall and F₁ of characters, with severity (WMT25 evaluation task, task 2).

Every character of a translation counts how many major and how many minor errors cover it, as people marked them and
as the judge did. A character marked alike earns full credit, one marked with the wrong severity half. Summed over all
translations: precision = credit / characters that the judge marked, recall = credit / characters that people marked.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
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
