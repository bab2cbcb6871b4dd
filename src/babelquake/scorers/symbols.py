"""Texts as rows of numbers: code points for character n-grams, word numbers for word n-grams and edits."""

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from babelquake.scorers.pairs import Ids, starts_of

Values = NDArray[np.uint32]


@dataclass(frozen=True)
class Symbols:
    """Several texts in one row: text t is `values[starts[t]:starts[t + 1]]`."""

    values: Values
    starts: Ids

    @property
    def lengths(self) -> Ids:
        """Symbols per text."""
        return np.diff(self.starts)


def characters(texts: Sequence[str], whitespace: bool) -> Symbols:
    """The code points of every text, with or without what `str.split` takes for white space."""
    values = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(
        np.uint32, copy=False
    )
    starts = starts_of(np.fromiter(map(len, texts), np.int64, len(texts)))
    if whitespace:
        return Symbols(values, starts)
    space = _whitespace()
    kept = ~space[np.minimum(values, len(space) - 1)]
    return Symbols(values[kept], starts_of(kept)[starts])


class Vocabulary(dict[str, int]):
    """Words → numbers, given out when first met."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


class Stretches(dict[str, tuple[int, ...]]):
    """Stretches of text without white space → the numbers of their words; each is taken apart once."""

    def __init__(self, vocabulary: Vocabulary, pieces: Callable[[str], Iterable[str]]) -> None:
        self._vocabulary = vocabulary
        self._pieces = pieces

    def __missing__(self, stretch: str) -> tuple[int, ...]:
        self[stretch] = numbers = tuple(self._vocabulary[word] for word in self._pieces(stretch))
        return numbers

    def numbers(self, text: str) -> list[int]:
        """The words of a text, stretch by stretch."""
        return list(chain.from_iterable(map(self.__getitem__, text.split())))


def packed(rows: Iterable[Iterable[int]]) -> Symbols:
    """Texts given as word numbers, in one row."""
    values = array("I")
    ends = [0]
    for row in rows:
        values.extend(row)
        ends.append(len(values))
    return Symbols(np.array(values, dtype=np.uint32), np.array(ends, dtype=np.int64))


@cache
def _whitespace() -> NDArray[np.bool_]:
    """Whether a code point is white space, up to the last one that is (U+3000) and one beyond."""
    return np.array([chr(point).isspace() for point in range(0x3002)])
