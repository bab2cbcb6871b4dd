"""Texts as rows of numbers: code points for character n-grams, word numbers for word n-grams and edits."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from babelquake.scorers.strings.pairs import Ids, starts_of


@dataclass(frozen=True)
class Symbols:
    """Several texts in one row: text t is `values[starts[t]:starts[t + 1]]`."""

    values: NDArray[np.uint32]
    starts: Ids

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> "Symbols":
        """Texts given as lists of numbers."""
        starts = starts_of(np.fromiter(map(len, rows), np.int64, len(rows)))
        return cls(np.fromiter(chain.from_iterable(rows), np.uint32, starts[-1]), starts)

    @property
    def lengths(self) -> Ids:
        """Symbols per text."""
        return np.diff(self.starts)

    def rows(self) -> list[list[int]]:
        """The texts as lists of numbers."""
        return [row.tolist() for row in np.split(self.values, self.starts[1:-1])] if len(self.starts) > 1 else []


def characters(texts: Sequence[str], whitespace: bool) -> Symbols:
    """The code points of every text, with or without what `str.split` takes for white space."""
    from babelquake.scorers.strings.scanning import without

    points = _code_points(texts)
    return points if whitespace else Symbols(*without(_whitespace(), points.values, points.starts))


def words(texts: Sequence[str]) -> Symbols:
    """The words between white space, equal words by equal numbers."""
    from babelquake.scorers.strings.scanning import stretches

    points = _code_points(texts)
    return Symbols(*stretches(_whitespace(), points.values, points.starts)[:2])


def pieces(
    texts: Sequence[str], take_apart: Callable[[list[str]], Iterable[Iterable[str]]], number: dict[str, int]
) -> Symbols:
    """The words between white space, each distinct one taken apart once; `number` grows by the pieces found."""
    from babelquake.scorers.strings.scanning import spelled_out, stretches

    points = _code_points(texts)
    numbers, starts, begins, ends = stretches(_whitespace(), points.values, points.starts)
    joined = "".join(texts)
    distinct = [joined[begin:end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]
    found = Symbols.of([numbered(parts, number) for parts in take_apart(distinct)])
    return Symbols(*spelled_out(numbers, starts, found.values, found.starts))


def numbered(items: Iterable[str], number: dict[str, int]) -> list[int]:
    """The number of each item; new ones get the next."""
    return [number.setdefault(item, len(number)) for item in items]


def _code_points(texts: Sequence[str]) -> Symbols:
    values = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4")
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    return Symbols(values.astype(np.uint32, copy=False), starts_of(lengths))


@cache
def _whitespace() -> NDArray[np.bool_]:
    """Whether a code point is white space, up to the last one that is (U+3000)."""
    return np.array([chr(point).isspace() for point in range(0x3001)])
