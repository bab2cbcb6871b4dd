"""How training text becomes subwords: `bpe`, `bpe-dropout[p=0.1]` or `sentencepiece[alpha=0.5]`.

Each is a table over distinct words that hands out subwords for any sequence of words; a regularised one draws anew for
every occurrence of a word, in every epoch. At inference, and on the target side, all three segment as their
SentencePiece model does, which is what the regularised ones give at p = 0 and α → ∞.

The vocabulary is learnt with SentencePiece on source and target together. Character coverage is .99999: at .9998 "!"
and "Ö" fall out of a German-English vocabulary. The model file is all that the runtime needs to segment and to put text
back together.

The sampling strength α of `sentencepiece` is fixed before training at 0.5, over all segmentations (l = ∞): of the
strengths in use since Kudo (2018, §5) it is the mild one, for corpora that are not small, while 0.1 and 0.2 serve those
of a few hundred thousand pairs. It makes 1.05 times the tokens of the best segmentation, where BPE-dropout with p = 0.1
makes 1.19 times (α = 0.3 would match that). Robustness to misspelling grows as α falls, so a comparison with
BPE-dropout is one of two published settings, not of two methods at equal strength.
"""

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from math import exp, log
from pathlib import Path
from typing import Annotated, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from babelquake.errors import UserError
from babelquake.spec import Range, make
from babelquake.train.corpus import Ragged, read_pairs, split_file

UNKNOWN, BEGIN, END = 0, 1, 2
EVERY = 3
"""Vocabularies are learnt on every third sentence pair, which changes little and saves time."""


def vocabulary(kind: str, size: int, data: Path, cache: Path) -> Path:
    """Path of the `bpe` or `unigram` model of the given size, learnt from the training split unless already there."""
    path = cache / f"{kind}-{size}.model"
    if not path.is_file():
        import sentencepiece

        cache.mkdir(parents=True, exist_ok=True)
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=_sentences(split_file(data, "train")),
                model_prefix=str(path.with_suffix(".partial")),
                model_type=kind,
                vocab_size=size,
                character_coverage=0.99999,
                unk_id=UNKNOWN,
                bos_id=BEGIN,
                eos_id=END,
                pad_id=-1,
                num_threads=4,
                minloglevel=2,
            )
        except RuntimeError as error:
            raise UserError(f"no {kind} vocabulary of {size} could be learnt from {data}: {error}") from error
        path.with_suffix(".partial.vocab").unlink()
        path.with_suffix(".partial.model").replace(path)
    return path


def processor(path: Path) -> Any:
    """The SentencePiece processor of a model file."""
    import sentencepiece

    return sentencepiece.SentencePieceProcessor(model_file=str(path))


def _sentences(path: Path) -> Iterator[str]:
    for number, pair in enumerate(read_pairs(path)):
        if number % EVERY == 0:
            yield from pair


NONE = np.iinfo(np.int16).max
LONGEST = 16
"""Characters of the longest piece that SentencePiece learns."""
SLICE = 8192
UNKNOWN_PENALTY = 10.0
"""SentencePiece's: an unknown character scores this much less than the least likely piece."""


class Segmenter(Protocol):
    """Subwords for words given by number."""

    def segment(self, words: NDArray[np.integer], rng: np.random.Generator) -> Ragged:
        """One row of subword numbers per word."""


@dataclass(frozen=True)
class Segmentation:
    """A parsed segmentation: which vocabulary it needs and how strongly it samples."""

    vocabulary: str
    dropout: float = 0.0
    alpha: float | None = None

    def segmenter(self, model: Path, words: list[str]) -> Segmenter:
        """The table for these words."""
        if self.dropout:
            return MergeDropout(model, words, self.dropout)
        if self.alpha is not None:
            return UnigramSampling(model, words, self.alpha)
        return Fixed(model, words)


def segmentation(text: str) -> Segmentation:
    """Read a segmentation's name and options."""
    return make(text, KINDS, "segmentation")


def _bpe() -> Segmentation:
    return Segmentation("bpe")


def _bpe_dropout(p: Annotated[float, Range(0, 1)] = 0.1) -> Segmentation:
    return Segmentation("bpe", dropout=p)


def _sentencepiece(alpha: Annotated[float, Range(0, 100)] = 0.5) -> Segmentation:
    return Segmentation("unigram", alpha=alpha)


KINDS: dict[str, Callable[..., Segmentation]] = {
    "bpe": _bpe,
    "bpe-dropout": _bpe_dropout,
    "sentencepiece": _sentencepiece,
}


class Fixed:
    """The one best segmentation, as SentencePiece gives it at inference."""

    def __init__(self, model: Path, words: list[str]) -> None:
        self.table = Ragged.of(processor(model).encode(words))

    def segment(self, words: NDArray[np.integer], rng: np.random.Generator) -> Ragged:
        """Look the words up; nothing is drawn."""
        return self.table.take(words)


class MergeDropout:
    """BPE-dropout (Provilkov et al. 2019, Algorithm 1).

    Begin with characters. In each step list every possible merge, strike each from the list with probability p, apply
    the best that is left, and stop when none is left. A struck merge may return in the next step; SentencePiece's own
    dropout never lets it return, and so cuts much finer at the same p.

    Words of equal length are treated together: all that are still merging have lost one symbol per step, so they stay
    of equal length.
    """

    def __init__(self, model: Path, words: list[str], p: float) -> None:
        pieces = _Pieces(model)
        self.p = p
        self.characters = Ragged.of(pieces.characters(word) for word in pieces.normalised(words))
        self.merged = pieces.merges()

    def segment(self, words: NDArray[np.integer], rng: np.random.Generator) -> Ragged:
        """Segment each word by its own draws."""
        lengths = self.characters.lengths[words]
        order = np.argsort(lengths, kind="stable")
        counts = np.zeros(len(words), np.int64)
        finished: list[tuple[NDArray[np.int64], NDArray[np.int32]]] = []
        edges = np.flatnonzero(np.diff(lengths[order])) + 1
        for group in np.split(order, edges):
            if not len(group):
                continue
            symbols = self.characters.take(words[group]).values.reshape(len(group), -1)
            for rows, final in self._merge(symbols, rng):
                counts[group[rows]] = final.shape[1]
                finished.append((group[rows], final))
        bounds = np.concatenate([[0], np.cumsum(counts)])
        values = np.empty(bounds[-1], np.int32)
        for rows, final in finished:
            values[bounds[rows][:, None] + np.arange(final.shape[1])] = final
        return Ragged(values, bounds)

    def _merge(
        self, symbols: NDArray[np.int32], rng: np.random.Generator
    ) -> Iterable[tuple[NDArray[np.int64], NDArray[np.int32]]]:
        """Merge words of one length, yielding (rows, symbols) as they finish."""
        rows = np.arange(len(symbols))
        while len(rows):
            length = symbols.shape[1]
            if length < 2:
                yield rows, symbols
                return
            result = self.merged[symbols[:, :-1], symbols[:, 1:]]
            if self.p:
                result[rng.random(result.shape, np.float32) < self.p] = NONE
            position = result.argmin(1)
            best = result[np.arange(len(rows)), position]
            going = best < NONE
            if not going.all():
                yield rows[~going], symbols[~going]
                rows, symbols, position, best = rows[going], symbols[going], position[going], best[going]
            keep = np.arange(length - 1) <= position[:, None]
            symbols = np.where(keep, symbols[:, :-1], symbols[:, 1:])
            symbols[np.arange(len(rows)), position] = best


class UnigramSampling:
    """Subword regularisation (Kudo 2018, §3.2): a segmentation x with probability P(x)^α / Σ P(x')^α, over all x'.

    Forward-filtering backward-sampling. Sums over all ways to reach each character of a word are made once per word;
    a draw walks back from the end of the word, choosing the last piece, the one before it, and so on. Every (word, end)
    is a state, numbered through; its possible last pieces lie next to each other with their cumulative probabilities
    added to the state's number, so that one binary search makes a choice for any state.
    """

    def __init__(self, model: Path, words: list[str], alpha: float) -> None:
        pieces = _Pieces(model)
        normalised = pieces.normalised(words)
        slices = [normalised[i : i + SLICE] for i in range(0, len(words), SLICE)]
        with multiprocessing.get_context("fork").Pool(min(len(slices), os.cpu_count() or 1)) as pool:
            made = pool.starmap(_lattices, [(part, pieces.numbers, pieces.scores, alpha) for part in slices])
        cumulative, numbers, steps, counts = (np.concatenate(parts) for parts in zip(*made, strict=True))
        states = np.concatenate([[0], np.cumsum(steps == 1)])
        ends = np.concatenate([[0], np.cumsum(counts)])
        row = np.arange(len(words))
        self.first, self.last = states[ends[:-1]] + row, states[ends[1:]] + row
        self.choices = cumulative + states[1:] + np.repeat(row, counts)
        self.numbers, self.steps = numbers, steps

    def segment(self, words: NDArray[np.integer], rng: np.random.Generator) -> Ragged:
        """Walk back through every word at once."""
        rows, state, first = np.arange(len(words)), self.last[words], self.first[words]
        walked: list[tuple[NDArray[np.int64], NDArray[np.int32]]] = []
        while len(rows := rows[going := state > first]):
            state, first = state[going], first[going]
            choice = np.searchsorted(self.choices, state + rng.random(len(rows), np.float32), side="right")
            walked.append((rows, self.numbers[choice]))
            state = state - self.steps[choice]
        counts = np.zeros(len(words), np.int64)
        for rows, _ in walked:
            counts[rows] += 1
        bounds = np.concatenate([[0], np.cumsum(counts)])
        values = np.empty(bounds[-1], np.int32)
        for back, (rows, numbers) in enumerate(walked, 1):
            values[bounds[rows + 1] - back] = numbers
        return Ragged(values, bounds)


def _lattices(
    words: list[str], numbers: dict[str, int], scores: list[float], alpha: float
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Cumulative probability, number and length of every choice, and the number of choices of every word."""
    unknown = min(scores) - UNKNOWN_PENALTY
    choices = [list(_choices(word, numbers, scores, unknown, alpha)) for word in words]
    flat = [choice for word in choices for choice in word]
    cumulative, pieces, steps = zip(*flat, strict=True) if flat else ((), (), ())
    counts = np.array([len(word) for word in choices], np.int64)
    return np.array(cumulative, np.float64), np.array(pieces, np.int32), np.array(steps, np.int64), counts


def _choices(
    word: str, numbers: dict[str, int], scores: list[float], unknown: float, alpha: float
) -> Iterator[tuple[float, int, int]]:
    """For each end in the word, its possible last pieces, shortest first: (cumulative probability, number, length)."""
    total = [0.0]
    for end in range(1, len(word) + 1):
        found = []
        for start in range(end - 1, max(-1, end - 1 - LONGEST), -1):
            number = numbers.get(word[start:end])
            if number is not None:
                found.append((total[start] + alpha * scores[number], number, end - start))
            elif start == end - 1:
                found.append((total[start] + alpha * unknown, UNKNOWN, 1))
        peak = max(weight for weight, _, _ in found)
        sums = list(accumulate(exp(weight - peak) for weight, _, _ in found))
        total.append(peak + log(sums[-1]))
        for so_far, (_, number, length) in zip(sums, found, strict=True):
            yield so_far / sums[-1], number, length


class _Pieces:
    """What a SentencePiece model knows: its pieces, their numbers and scores, its normalisation."""

    def __init__(self, model: Path) -> None:
        self.processor = processor(model)
        size = self.processor.get_piece_size()
        names = self.processor.id_to_piece(list(range(size)))
        special = [self.processor.is_control(i) or self.processor.is_unknown(i) for i in range(size)]
        self.size = size
        self.scores: list[float] = [self.processor.get_score(i) for i in range(size)]
        self.numbers = {name: i for i, name in enumerate(names) if not special[i]}

    def normalised(self, words: list[str]) -> list[str]:
        """The words as SentencePiece sees them: spaces marked, runs of unknown characters counted as one."""
        known = self.numbers.keys()
        return [
            "".join(c for i, c in enumerate(word) if i == 0 or c in known or word[i - 1] in known)
            for word in self.processor.normalize(words)
        ]

    def characters(self, word: str) -> list[int]:
        """Numbers of a word's characters."""
        return [self.numbers.get(character, UNKNOWN) for character in word]

    def merges(self) -> NDArray[np.int16]:
        """`[left, right]` → the piece they merge into, or NONE. Pieces learnt earlier have lower numbers."""
        table = np.full((self.size, self.size), NONE, np.int16)
        for piece, number in self.numbers.items():
            for cut in range(1, len(piece)):
                left, right = self.numbers.get(piece[:cut]), self.numbers.get(piece[cut:])
                if left is not None and right is not None:
                    table[left, right] = number
        return table
