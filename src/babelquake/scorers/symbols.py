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


def words(texts: Iterable[str], pieces: Callable[[str], Iterable[str]] | None = None) -> Symbols:
    """Words as numbers, equal words alike; `pieces` takes a stretch without white space apart, once per stretch."""
    taken_apart = _Stretches(pieces)
    return _packed(list(chain.from_iterable(map(taken_apart.__getitem__, text.split()))) for text in texts)


class _Stretches(dict[str, tuple[int, ...]]):
    """White-space-free stretches of text → the numbers of their words, worked out when first met."""

    def __init__(self, pieces: Callable[[str], Iterable[str]] | None) -> None:
        self._pieces = pieces
        self._number: dict[str, int] = {}

    def __missing__(self, stretch: str) -> tuple[int, ...]:
        found = (stretch,) if self._pieces is None else self._pieces(stretch)
        self[stretch] = ids = tuple(self._number.setdefault(word, len(self._number)) for word in found)
        return ids


def _packed(rows: Iterable[list[int]]) -> Symbols:
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
