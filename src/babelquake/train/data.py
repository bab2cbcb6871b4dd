"""Training batches of one fixed shape, made by worker processes ahead of the GPU.

Sentence pairs are packed: a row of a batch holds several pairs, one after the other, and attention stays within a pair.
So every batch has the same shape (a token budget), padding is rare, and the GPU sees one set of kernels. A row has room
for `source_length` source and `target_length` target tokens; a pair too long for a row is left out.

The stream is a function of (seed, chunk): a chunk is a run of pairs in the epoch's random order, segmented and packed
by itself. The number of workers changes nothing, and a resumed run continues with the very next batch.
"""

import multiprocessing
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.pool import AsyncResult
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from babelquake.perturb.noise import Noise
from babelquake.train.config import Config
from babelquake.train.corpus import Ragged
from babelquake.train.segmentation import BEGIN, END, Segmenter

Array = TypeVar("Array", bound=Any)
Batch = NDArray[np.int16]
"""`[rows, width]`, holding side by side the fields that `unpack` separates."""
CHUNK = 16384
OPEN_ROWS = 128
"""Rows kept open for packing; a pair goes into the first with room for it."""


@dataclass(frozen=True)
class Pairs:
    """A training set: sentences as words, and the segmenters that turn words into subwords."""

    source: Ragged
    target: Ragged
    source_segmenter: Segmenter
    target_segmenter: Segmenter
    noise: "NoisySources | None" = None

    def __len__(self) -> int:
        return len(self.source)


@dataclass(frozen=True)
class NoisySources:
    """Draws noise for sources and segments what it changed; a changed word is in no table of words."""

    noise: Noise
    words: Sequence[str]
    pieces: Any
    """The SentencePiece processor; changed sentences take its best segmentation."""

    def mixed(self, sentences: Ragged, clean: Ragged, epoch: int, rows: NDArray[np.integer]) -> Ragged:
        """The subwords of sentences, those of a share of them after a change drawn for this epoch."""
        changed: dict[int, str] = {}
        for place, row in enumerate(rows):
            numbers = sentences.values[sentences.bounds[place] : sentences.bounds[place + 1]]
            text = " ".join(map(self.words.__getitem__, numbers))
            noisy = self.noise.of(text, f"{epoch}:{row}")
            if noisy.perturbation is not None:
                changed[place] = noisy.text
        return clean.replaced(dict(zip(changed, self.pieces.encode(list(changed.values())), strict=True)))


def chunk_batches(pairs: Pairs, config: Config, number: int) -> list[Batch]:
    """The batches of one chunk; the last rows of a chunk that do not fill a batch are left out."""
    per_epoch = -(-len(pairs) // CHUNK)
    epoch, part = divmod(number, per_epoch)
    order = np.random.default_rng([config.seed, epoch]).permutation(len(pairs))
    rows = np.array_split(order, per_epoch)[part]
    rng = np.random.default_rng([config.seed, epoch, part])
    sentences = pairs.source.take(rows)
    source = segmented(sentences, pairs.source_segmenter, rng)
    if pairs.noise is not None:
        source = pairs.noise.mixed(sentences, source, epoch, rows)
    target = segmented(pairs.target.take(rows), pairs.target_segmenter, rng)
    packed = pack(source, target, config)
    count = max(1, len(packed) // config.rows)
    batches = np.zeros((count * config.rows, packed.shape[1]), np.int16)
    batches[: len(packed)] = packed[: len(batches)]
    return list(batches.reshape(count, config.rows, -1))


def segmented(sentences: Ragged, segmenter: Segmenter, rng: np.random.Generator) -> Ragged:
    """Sentences of words as sentences of subwords."""
    subwords = segmenter.segment(sentences.values, rng)
    return Ragged(subwords.values, subwords.bounds[sentences.bounds])


def pack(source: Ragged, target: Ragged, config: Config) -> Batch:
    """Lay sentence pairs into rows, each with one end or begin token, first row with room first."""
    room = np.array([config.source_length, config.target_length])
    needs = np.stack([source.lengths, target.lengths], 1) + 1
    row = np.full(len(needs), -1)
    start = np.zeros_like(needs)
    nth = np.zeros(len(needs), np.int64)
    free = np.tile(room, (OPEN_ROWS, 1))
    names, held, made = np.arange(OPEN_ROWS), np.zeros(OPEN_ROWS, np.int64), OPEN_ROWS
    for pair in np.flatnonzero((needs <= room).all(1) & (needs > 1).all(1)):
        fits = (free >= needs[pair]).all(1)
        slot = int(fits.argmax())
        if not fits[slot]:
            slot = int(free.min(1).argmin())
            free[slot], names[slot], held[slot], made = room, made, 0, made + 1
        held[slot] += 1
        row[pair], start[pair], nth[pair] = names[slot], room - free[slot], held[slot]
        free[slot] -= needs[pair]
    kept = np.flatnonzero(row >= 0)
    used = np.zeros(made, np.int64)
    used[row[kept]] = 1
    row[kept] = (np.cumsum(used) - 1)[row[kept]]
    packed = np.zeros((int(used.sum()), 3 * config.source_length + 4 * config.target_length), np.int16)
    fields = unpack(packed, config)
    sides = (source, 0, fields.source, None, fields.source_pair, fields.source_position)
    _lay(*sides, kept, row, start, nth)
    targets = (target, 1, fields.target_output, fields.target_input, fields.target_pair, fields.target_position)
    _lay(*targets, kept, row, start, nth)
    return packed


@dataclass(frozen=True)
class Fields(Generic[Array]):
    """The parts of a batch, all `[rows, length]`. `…_pair` numbers a row's pairs from 1; 0 is padding."""

    source: Array
    source_pair: Array
    source_position: Array
    target_input: Array
    target_output: Array
    target_pair: Array
    target_position: Array


def unpack(batch: Array, config: Config) -> Fields[Array]:
    """Views of the fields of a batch, which is a NumPy array or a torch tensor."""
    parts: list[Array] = []
    begin = 0
    for length in [config.source_length] * 3 + [config.target_length] * 4:
        parts.append(batch[:, begin : begin + length])
        begin += length
    return Fields(*parts)


def stream(pairs: Pairs, config: Config, chunk: int = 0, batch: int = 0) -> Iterator[tuple[int, int, Batch]]:
    """Endless (chunk, batch number within it, batch), beginning at the given place."""
    if config.workers < 1:
        while True:
            for number, made in enumerate(chunk_batches(pairs, config, chunk)):
                if number >= batch:
                    yield chunk, number, made
            chunk, batch = chunk + 1, 0
    context = multiprocessing.get_context("fork")
    with context.Pool(config.workers, _keep, (pairs, config)) as pool:
        ahead: deque[AsyncResult[list[Batch]]] = deque()
        wanted = chunk
        while True:
            while len(ahead) < 2 * config.workers:
                ahead.append(pool.apply_async(_work, (wanted,)))
                wanted += 1
            for number, made in enumerate(ahead.popleft().get()):
                if number >= batch:
                    yield chunk, number, made
            chunk, batch = chunk + 1, 0


_kept: dict[str, tuple[Pairs, Config]] = {}


def _keep(pairs: Pairs, config: Config) -> None:
    _kept["work"] = (pairs, config)


def _work(number: int) -> list[Batch]:
    return chunk_batches(*_kept["work"], number)


def _lay(
    side: Ragged,
    column: int,
    ended: Batch,
    begun: Batch | None,
    pair: Batch,
    position: Batch,
    kept: NDArray[np.int64],
    row: NDArray[np.int64],
    start: NDArray[np.int64],
    nth: NDArray[np.int64],
) -> None:
    """Write one side's tokens, pair numbers and positions into the fields of a packed array."""
    tokens = side.take(kept)
    lengths = tokens.lengths
    rows = np.repeat(row[kept], lengths)
    inside = np.arange(len(tokens.values)) - np.repeat(tokens.bounds[:-1], lengths)
    columns = np.repeat(start[kept, column], lengths) + inside
    ended[rows, columns] = tokens.values
    ended[row[kept], start[kept, column] + lengths] = END
    if begun is not None:
        begun[rows, columns + 1] = tokens.values
        begun[row[kept], start[kept, column]] = BEGIN
    whole = lengths + 1
    bounds = np.concatenate([[0], np.cumsum(whole)])
    rows = np.repeat(row[kept], whole)
    inside = np.arange(bounds[-1]) - np.repeat(bounds[:-1], whole)
    columns = np.repeat(start[kept, column], whole) + inside
    pair[rows, columns] = np.repeat(nth[kept], whole)
    position[rows, columns] = inside
