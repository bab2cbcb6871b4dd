"""Edit distance of two sequences, of characters or of words."""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from babelquake.compiled import compiled
from babelquake.text import words

Numbers = NDArray[np.uint32]
BAND = 16
"""Changes that a band allows for at first."""


def edit_distance(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """Fewest insertions, deletions and replacements (Levenshtein 1966)."""
    if isinstance(one, str) and isinstance(other, str):
        return _distance(_points(one), _points(other))
    known = {item: number for number, item in enumerate(dict.fromkeys((*one, *other)))}
    return _distance(*(np.array([known[item] for item in some], dtype=np.uint32) for some in (one, other)))


def word_distance(one: str, other: str) -> int:
    """Words changed, inserted or deleted between two texts."""
    return edit_distance([span.text for span in words(one)], [span.text for span in words(other)])


def _points(text: str) -> Numbers:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


@compiled
def _distance(one: Numbers, other: Numbers) -> int:
    """What both begin and end with is left out; a band around the diagonal grows until it holds the way (Ukkonen 1985).

    Texts of which little was changed take time in proportion to their length, not to its square.
    """
    start, first, last = 0, len(one), len(other)
    while start < min(first, last) and one[start] == other[start]:
        start += 1
    while min(first, last) > start and one[first - 1] == other[last - 1]:
        first -= 1
        last -= 1
    rows, columns = first - start, last - start
    band = max(abs(rows - columns), BAND)
    while True:
        row = np.arange(columns + 1)
        for i in range(1, rows + 1):
            low, high = max(1, i - band), min(columns, i + band)
            corner = row[low - 1]
            row[low - 1] = i if low == 1 else rows + columns
            if high == i + band:  # the row above ends one before
                row[high] = rows + columns
            for j in range(low, high + 1):
                replaced = corner + (one[start + i - 1] != other[start + j - 1])
                corner = row[j]
                row[j] = min(replaced, corner + 1, row[j - 1] + 1)
        if row[columns] <= band or band >= max(rows, columns):
            return int(row[columns])
        band *= 2
