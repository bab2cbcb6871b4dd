"""Which segments a resample contains, as counts; every bootstrap with the same seed and size draws the same resamples.

A bootstrap resample of n segments is a vector of counts ~ Multinomial(n; 1/n, …, 1/n). Drawing n segment numbers and
counting them is slow, so the counts are drawn directly: independent Poisson(λ) counts with λ a little below 1 are,
given their total T, Multinomial(T); where T ≤ n, another n − T uniformly drawn segments make them Multinomial(n);
where T > n the vector is dropped and all n are drawn uniformly.

Both steps are exact for exact Poisson counts. Ours come from 16 random bits each, so their probabilities are rounded
to 2⁻¹⁶: their variance differs from their mean by up to 4 parts in 10,000, and a bootstrap's standard deviation by up
to 2, where 10,000 resamples leave 70 to chance.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from babelquake.errors import UserError

Counts = NDArray[np.uint8]

CELLS = 1 << 17
"""Counts drawn at once: small enough for the processor's cache, large enough to hide the cost of a call."""
MARGIN = 2.5
"""λ = 1 − MARGIN/√n: the Poisson total exceeds n in about 0.6 % of resamples."""
PIECE = 1 << 15
"""Random numbers looked at together: few enough that memory for them is reused and not asked of the system again."""


def resample_counts(segments: int, resamples: int, seed: int = 0) -> Iterator[Counts]:
    """Blocks of bootstrap counts, shape (some, segments), `resamples` rows in all, each summing to `segments`.

    Block k is keyed by (seed, segments, k): the first rows are the same whatever `resamples` is, and two callers with
    the same seed see the same resamples, which is what makes a comparison paired.
    """
    edges = _poisson_edges(max(0.0, 1.0 - MARGIN / math.sqrt(max(1, segments))))
    for rng, rows, wanted in _keyed_blocks(segments, resamples, seed, kind=0):
        counts = _poisson_counts(rng, edges, rows * segments).reshape(rows, segments)
        missing = segments - counts.sum(axis=1, dtype=np.uint32).astype(np.int64)
        counts[missing < 0] = 0
        missing[missing < 0] = segments
        cells = np.repeat(np.arange(rows) * segments, missing)
        cells += rng.integers(0, segments, cells.size, dtype=np.uint32)
        np.add.at(counts.reshape(-1), cells, np.uint8(1))
        yield counts[:wanted]


def swap_masks(segments: int, draws: int, seed: int = 0) -> Iterator[Counts]:
    """Blocks of fair coin flips, shape (some, segments), `draws` rows in all: which segments change sides."""
    for rng, rows, wanted in _keyed_blocks(segments, draws, seed, kind=1):
        bits = np.unpackbits(_random_words(rng, -(-rows * segments // 64)).view(np.uint8))
        yield bits[: rows * segments].reshape(rows, segments)[:wanted]


def _keyed_blocks(segments: int, draws: int, seed: int, kind: int) -> Iterator[tuple[np.random.Generator, int, int]]:
    """Per block: its generator, the rows to draw, the rows wanted (fewer in the last block, yet drawn in full)."""
    if segments < 1 or draws < 1 or seed < 0:
        raise UserError(
            f"resampling needs at least 1 segment, at least 1 resample and a seed of 0 or more, "
            f"but there are {segments} segments, {draws} resamples and seed {seed}."
        )
    full = max(1, CELLS // segments)
    for number, start in enumerate(range(0, draws, full)):
        key = np.random.SeedSequence(seed, spawn_key=(kind, segments, number))
        yield np.random.Generator(np.random.SFC64(key)), full, min(full, draws - start)


def _poisson_edges(rate: float) -> list[int]:
    """For k = 1, 2, …: the 16-bit number from which on a count is at least k."""
    edges: list[int] = []
    probability, below = math.exp(-rate), 0.0
    while (edge := round((below := below + probability) * 2**16)) < 2**16:
        edges.append(edge)
        probability *= rate / len(edges)
    return edges


def _poisson_counts(rng: np.random.Generator, edges: list[int], size: int) -> Counts:
    """`size` independent Poisson counts: how many edges a 16-bit random number has passed."""
    counts = np.zeros(size, dtype=np.uint8)
    room = np.empty(PIECE, dtype=np.bool_)
    for start in range(0, size, PIECE):
        piece = counts[start : start + PIECE]
        bits = _random_words(rng, -(-piece.size // 4)).view(np.uint16)[: piece.size]
        passed = room[: piece.size]
        for edge in edges:
            np.greater_equal(bits, np.uint16(edge), out=passed)
            piece += passed.view(np.uint8)
    return counts


def _random_words(rng: np.random.Generator, size: int) -> NDArray[np.uint64]:
    """Random 64-bit words straight from the bit generator."""
    return np.asarray(rng.bit_generator.random_raw(size), dtype=np.uint64)
