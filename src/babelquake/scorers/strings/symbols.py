"""Who is judged against whom, and texts as rows of numbers: code points for character n-grams, word numbers for word
n-grams and edits.

A study judges many variants against one reference, so every distinct text is prepared once however often it occurs:
segments point to distinct texts and distinct reference sets by number.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from babelquake.errors import UserError
from babelquake.scorers.base import Questions

Ids = NDArray[np.int64]
LONGEST = 1_000_000
"""Characters of one text: a tenth of them takes 40 MB to compare, and no sentence has them."""
SHOWN = 60


@dataclass(frozen=True)
class Pairs:
    """Questions by numbers. Segment s has translation `texts[translation[s]]` and reference set `reference_set[s]`;
    set k holds the texts `members[set_starts[k]:set_starts[k + 1]]`."""

    texts: list[str]
    translation: Ids
    reference_set: Ids
    set_starts: Ids
    members: Ids

    @classmethod
    def of(cls, questions: Questions, longest: int = LONGEST) -> "Pairs":
        """Number the distinct texts and reference sets in order of appearance; refuse a text of too many characters."""
        if questions.references is None:
            raise UserError("string metrics need the reference of every segment.")
        number: dict[str, int] = {}
        translation = [number.setdefault(text, len(number)) for text in questions.translations]
        sets: dict[tuple[str, ...], int] = {}
        reference_set = [sets.setdefault(tuple(references), len(sets)) for references in questions.references]
        if () in sets:
            raise UserError(f"segment {reference_set.index(sets[()]) + 1} has no reference: at least one is needed.")
        members = [number.setdefault(text, len(number)) for references in sets for text in references]
        _refuse_longer(number, longest)
        sizes = np.fromiter(map(len, sets), np.int64, len(sets))
        return cls(list(number), _ids(translation), _ids(reference_set), starts_of(sizes), _ids(members))

    @property
    def references(self) -> Ids:
        """How many references each segment has."""
        return np.asarray(np.diff(self.set_starts)[self.reference_set])

    def flat(self) -> tuple[Ids, Ids, Ids]:
        """Every (translation, reference) pair, segment by segment, and where each segment's pairs begin."""
        sizes = self.references
        starts = starts_of(sizes)
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)
        reference = self.members[np.repeat(self.set_starts[self.reference_set], sizes) + within]
        return np.repeat(self.translation, sizes), reference, starts


def starts_of(sizes: Ids | NDArray[np.bool_]) -> Ids:
    """Where each of several consecutive stretches begins, and where the last one ends."""
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def _ids(numbers: list[int]) -> Ids:
    return np.array(numbers, dtype=np.int64)


def _refuse_longer(texts: Iterable[str], longest: int) -> None:
    """Some comparisons take time or memory that grows faster than their texts."""
    text = max(texts, key=len, default="")
    if len(text) > longest:
        raise UserError(
            f"a text of {len(text):,} characters is too long to be compared, “{text[:SHOWN]}…”: at most {longest:,} "
            "are allowed. Split it into sentences, or leave it out."
        )


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
    from babelquake.scorers.strings.kernels import without

    return points if whitespace else Symbols(*without(_whitespace(), points.values, points.starts))


def words(points: Symbols, cuts: Cuts) -> Symbols:
    """The words between white space and cuts, equal words by equal numbers."""
    from babelquake.scorers.strings.kernels import numbered

    space = _whitespace()
    return Symbols(*numbered(space, cuts(space, points.values, points.starts), points.values, points.starts))


@cache
def _whitespace() -> NDArray[np.bool_]:
    """Whether a code point is white space, up to the last one that is (U+3000)."""
    return np.array([chr(point).isspace() for point in range(0x3001)])
