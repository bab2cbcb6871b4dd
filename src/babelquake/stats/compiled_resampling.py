"""Resampling of many segments as machine code: a thread of it never waits for another, so cores add up.

The same counts as `resampling.Draws` gives, and the same sums to the last bit.
"""

import numpy as np
from numpy.typing import NDArray

from babelquake.compiled import compiled
from babelquake.stats.resampling import EDGES, FACTORS, SEGMENTS_AT_ONCE, STEP

Array = NDArray[np.float64]
Words = NDArray[np.uint64]

THRESHOLDS = np.array(EDGES, dtype=np.uint16)
FIRST, SECOND = FACTORS
SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))
PER_WORD = 4
"""Counts that one random word makes."""


@compiled
def count_one(start: np.uint64, word: int, words: Words, counts: NDArray[np.float32]) -> None:
    """Poisson(1) counts of one segment from random number `word` of its stream on; `words` is room to work in."""
    for place in range(len(words)):
        mixed = start + np.uint64(word + place) * STEP
        mixed = (mixed ^ (mixed >> SHIFTS[0])) * FIRST
        mixed = (mixed ^ (mixed >> SHIFTS[1])) * SECOND
        words[place] = mixed ^ (mixed >> SHIFTS[2])
    bits = words.view(np.uint16)
    for draw in range(len(counts)):
        passed = np.uint16(0)
        for edge in THRESHOLDS:
            passed += np.uint16(bits[draw] >= edge)
        counts[draw] = passed


@compiled
def tile_of(starts: Words, first: int, draws: int) -> Array:
    """Counts of some segments in some draws, shape (segments, draws)."""
    words = np.empty((draws + PER_WORD - 1) // PER_WORD, np.uint64)
    counts = np.empty(draws, np.float32)
    tile = np.empty((len(starts), draws))
    for segment in range(len(starts)):
        count_one(starts[segment], first // PER_WORD, words, counts)
        for draw in range(draws):
            tile[segment, draw] = counts[draw]
    return tile


@compiled
def whole_sums(rows: Array, starts: Words, first: int, draws: int) -> Array:
    """Column sums of whole numbers over some draws, shape (width, draws); sums over a tile stay below 2²⁴."""
    words = np.empty((draws + PER_WORD - 1) // PER_WORD, np.uint64)
    counts = np.empty(draws, np.float32)
    width = rows.shape[1]
    total = np.zeros((width, draws))
    part = np.empty((width, draws), np.float32)
    for begin in range(0, len(rows), SEGMENTS_AT_ONCE):
        part[:] = np.float32(0)
        for segment in range(begin, min(begin + SEGMENTS_AT_ONCE, len(rows))):
            count_one(starts[segment], first // PER_WORD, words, counts)
            for column in range(width):
                value = np.float32(rows[segment, column])
                for draw in range(draws):
                    part[column, draw] += value * counts[draw]
        for column in range(width):
            for draw in range(draws):
                total[column, draw] += part[column, draw]
    return total
