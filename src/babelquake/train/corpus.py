"""Parallel text as numbers: each distinct word once, and sentences as sequences of word numbers.

No subword crosses a space, so a sentence's segmentation is that of its words, one after the other. Segmentation
therefore works on distinct words (some 400,000) instead of running text (31 million words).
"""

import hashlib
import lzma
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from babelquake.errors import UserError

Integers = NDArray[np.int32]
RATIO = 3
"""Pairs in which one side has more than this many times the words of the other, plus ten, are left out."""


@dataclass(frozen=True)
class Ragged:
    """Rows of unequal length: row i is `values[bounds[i]:bounds[i + 1]]`."""

    values: Integers
    bounds: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Length of each row."""
        return np.diff(self.bounds)

    def take(self, rows: NDArray[np.integer]) -> "Ragged":
        """The given rows, in the given order; rows may repeat."""
        lengths = self.lengths[rows]
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        index = np.arange(bounds[-1]) + np.repeat(self.bounds[rows] - bounds[:-1], lengths)
        return Ragged(self.values[index], bounds)

    def replaced(self, rows: Mapping[int, Sequence[int]]) -> "Ragged":
        """These rows with others, by number, in some places."""
        if not rows:
            return self
        parts = np.split(self.values, self.bounds[1:-1])
        for place, row in rows.items():
            parts[place] = np.asarray(row, np.int32)
        return Ragged(np.concatenate(parts), np.cumsum([0, *map(len, parts)], dtype=np.int64))

    @classmethod
    def of(cls, rows: Iterable[Iterable[int]]) -> "Ragged":
        """Rows given one by one."""
        lists = [list(row) for row in rows]
        bounds = np.cumsum([0, *map(len, lists)], dtype=np.int64)
        return cls(np.fromiter((value for row in lists for value in row), np.int32, int(bounds[-1])), bounds)


@dataclass(frozen=True)
class Side:
    """One language of a corpus: its distinct words, and its sentences as numbers of words."""

    words: list[str]
    sentences: Ragged


@dataclass(frozen=True)
class Corpus:
    """Sentence pairs, source and target in the same order."""

    source: Side
    target: Side


def split_file(data: Path, split: str) -> Path:
    """The file of a split (`train`, `dev` or `valid`, `test`) in a data folder: `train*.tsv`, perhaps `.xz`."""
    names = ("dev", "valid") if split == "dev" else (split,)
    found = sorted(path for name in names for end in ("", ".xz") for path in data.glob(f"{name}*.tsv{end}"))
    if len(found) != 1:
        raise UserError(f"{data}: expected one file {split}*.tsv or {split}*.tsv.xz, found {len(found)}.")
    return found[0]


def read_pairs(path: Path) -> Iterator[tuple[str, str]]:
    """The `source<TAB>target` lines of a file; before them a number, and perhaps one more, as in MTNT's files."""
    with opened(path) as lines:
        for number, line in enumerate(lines, 1):
            cells = line.rstrip("\r\n").split("\t")
            if len(cells) != 2 and not (len(cells) in (3, 4) and cells[0].isdecimal()):
                raise UserError(f"{path} line {number}: {len(cells)} columns, expected source<TAB>target.")
            yield cells[-2], cells[-1]


def sha256(path: Path) -> str:
    """Hash of a data file, for the card."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_corpus(path: Path, cache: Path) -> Corpus:
    """Read and count a training file, or load what an earlier run counted."""
    stored = cache / f"{path.name}.npz"
    if not stored.is_file():
        source, target = _Counter(), _Counter()
        for left, right in read_pairs(path):
            one, other = left.split(), right.split()
            if one and other and max(len(one), len(other)) <= RATIO * min(len(one), len(other)) + 10:
                source.add(one)
                target.add(other)
        cache.mkdir(parents=True, exist_ok=True)
        partial = stored.with_suffix(".partial.npz")
        arrays: dict[str, Any] = source.arrays("source") | target.arrays("target")
        np.savez(partial, **arrays)
        partial.replace(stored)
    with np.load(stored) as loaded:
        sides = [
            Side(
                loaded[f"{side}_words"].tobytes().decode("utf-8").split("\n"),
                Ragged(loaded[f"{side}_values"], loaded[f"{side}_bounds"]),
            )
            for side in ("source", "target")
        ]
    return Corpus(*sides)


def opened(path: Path) -> TextIO:
    """A text file, packed or not."""
    if path.suffix == ".xz":
        return lzma.open(path, "rt", encoding="utf-8", newline="\n")
    return path.open(encoding="utf-8", newline="\n")


class _Counter:
    """Numbers words in the order in which they are met."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.values: list[Integers] = []

    def add(self, words: list[str]) -> None:
        """One more sentence."""
        numbers = self.numbers
        self.values.append(np.array([numbers.setdefault(word, len(numbers)) for word in words], np.int32))

    def arrays(self, side: str) -> dict[str, NDArray[np.generic]]:
        """Words, numbers and bounds as arrays that a file can hold, named after the side."""
        return {
            f"{side}_words": np.frombuffer("\n".join(self.numbers).encode("utf-8"), np.uint8),
            f"{side}_values": np.concatenate(self.values) if self.values else np.empty(0, np.int32),
            f"{side}_bounds": np.cumsum([0, *map(len, self.values)], dtype=np.int64),
        }
