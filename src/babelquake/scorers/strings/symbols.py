"""Texts as rows of numbers: code points for character n-grams, word numbers for word n-grams and edits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from babelquake.scorers.strings.pairs import Ids, starts_of

Cuts: TypeAlias = Callable[[NDArray[np.bool_], NDArray[np.uint32], Ids], NDArray[np.bool_]]
"""Given what is white space, the code points of texts and where each begins: before which of them a word is cut."""


@dataclass(frozen=True)
class Symbols:
    """Several texts in one row: text t is `values[starts[t]:starts[t + 1]]`."""

    values: NDArray[np.uint32]
    starts: Ids

    @property
    def lengths(self) -> Ids:
        """Symbols per text."""
        return np.diff(self.starts)

    def rows(self) -> list[list[int]]:
        """The texts as lists of numbers."""
        return [row.tolist() for row in np.split(self.values, self.starts[1:-1])] if len(self.starts) > 1 else []


def code_points(texts: Sequence[str]) -> Symbols:
    """The code points of every text."""
    values = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4")
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    return Symbols(values.astype(np.uint32, copy=False), starts_of(lengths))


def characters(points: Symbols, whitespace: bool) -> Symbols:
    """The code points with or without what `str.split` takes for white space."""
    from babelquake.scorers.strings.code_points import without

    return points if whitespace else Symbols(*without(_whitespace(), points.values, points.starts))


def words(points: Symbols, cuts: Cuts) -> Symbols:
    """The words between white space and cuts, equal words by equal numbers."""
    from babelquake.scorers.strings.code_points import numbered

    space = _whitespace()
    return Symbols(*numbered(space, cuts(space, points.values, points.starts), points.values, points.starts))


@cache
def _whitespace() -> NDArray[np.bool_]:
    """Whether a code point is white space, up to the last one that is (U+3000)."""
    return np.array([chr(point).isspace() for point in range(0x3001)])
