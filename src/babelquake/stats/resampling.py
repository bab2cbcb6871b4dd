"""What chance does to each segment, keyed by the segment: how often a resample holds it, whether it changes sides.

Every segment has its own 64-bit key (a hash of what it is, see `segment_keys`), and a key has one stream of random
numbers, made by a counter-based generator (SplitMix64: Steele et al. 2014): number t of key k is mix(k + t·γ). So draw
b treats a segment alike whatever its row number, whichever other segments are there and in whatever pieces the work is
done. Two cells on overlapping segments share their resamples, which makes comparisons between them paired.

A resample holds each segment Poisson(1) times (the Poisson bootstrap; Hanley & MacGibbon 2006; Chamandy et al. 2012):
the multinomial counts of the classical bootstrap without the condition that they sum to n, which no ratio of sums
depends on. Counts are made from 16 random bits, so probabilities are rounded to 2⁻¹⁶.

Tables of statistics are brought to these units first: rows of one segment summed (`by_unit`), spread over the segments
of other tables (`aligned`), and marked with a hash (`marks_of`): two tables differ in a row where its marks do.
"""

import hashlib
import math
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from babelquake.errors import UserError

Counts = NDArray[np.uint8]
Keys = NDArray[np.uint64]
Chance = Literal["resample", "swap"]

DRAWS_AT_ONCE = 256
SEGMENTS_AT_ONCE = 512
"""A tile of 256 draws for 512 segments: it fits the processor's cache, and hides the cost of a call."""
BITS = {"resample": 16, "swap": 1}
STEP = np.uint64(0x9E3779B97F4A7C15)
FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def segment_keys(names: Iterable[str]) -> Keys:
    """A key for every segment, from what it is: equal names are one segment, wherever they stand."""
    digests = b"".join(hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest() for name in names)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def keys_by_place(segments: int) -> Keys:
    """Keys of segments that have no name: their row numbers."""
    return np.arange(1, segments + 1, dtype=np.uint64) * STEP


class Draws:
    """The draws of one kind for some segments; the same seed and keys give the same, however they are asked for."""

    def __init__(self, keys: Keys, chance: Chance = "resample", seed: int = 0) -> None:
        if len(keys) < 1 or seed < 0:
            raise UserError(
                f"resampling needs at least 1 segment and a seed of 0 or more; there are {len(keys)} segments and "
                f"seed {seed}."
            )
        purpose = np.frombuffer(hashlib.blake2b(f"{chance} {seed}".encode(), digest_size=8).digest(), "<u8")
        self.starts = _mixed(keys.astype(np.uint64) + purpose)
        self.chance = chance

    def __len__(self) -> int:
        return len(self.starts)

    def tile(self, segments: slice, first: int, draws: int) -> Counts:
        """Draws `first` to `first + draws` of these segments, shape (segments, draws); `first` is a multiple of 64."""
        per_word = 64 // BITS[self.chance]
        times = np.arange(first // per_word, -(-(first + draws) // per_word), dtype=np.uint64)
        words = _mixed(self.starts[segments, None] + (times * STEP)[None, :])
        if self.chance == "swap":
            bits = np.unpackbits(words.view(np.uint8).reshape(len(words), -1), axis=1)
            return bits[:, :draws]
        return _poisson_counts(words.view(np.uint16))[:, :draws]

    def rows(self, draws: int) -> Iterator[Counts]:
        """All segments of each draw, in blocks of shape (some draws, segments)."""
        for first in range(0, draws, 64):
            yield np.ascontiguousarray(self.tile(slice(None), first, min(64, draws - first)).T)


def least_draws(alpha: float) -> int:
    """Draws with which a p-value can fall well below `alpha`: fewer are raised to this."""
    return math.ceil(20 / alpha) - 1


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's finaliser, in place."""
    room = np.empty_like(words)
    for shift, factor in ((30, FACTORS[0]), (27, FACTORS[1]), (31, None)):
        np.right_shift(words, np.uint64(shift), out=room)
        np.bitwise_xor(words, room, out=words)
        if factor is not None:
            np.multiply(words, factor, out=words)
    return words


def _poisson_edges(rate: float = 1.0) -> list[int]:
    """For k = 1, 2, …: the 16-bit number from which on a count is at least k."""
    edges: list[int] = []
    probability, below = math.exp(-rate), 0.0
    while (edge := round((below := below + probability) * 2**16)) < 2**16:
        edges.append(edge)
        probability *= rate / len(edges)
    return edges


EDGES = tuple(np.uint16(edge) for edge in _poisson_edges())


def _poisson_counts(bits: NDArray[np.uint16]) -> Counts:
    """Poisson(1) counts: how many edges a 16-bit random number has passed."""
    counts = np.zeros(bits.shape, dtype=np.uint8)
    passed = np.empty(bits.shape, dtype=np.bool_)
    for edge in EDGES:
        np.greater_equal(bits, edge, out=passed)
        np.add(counts, passed.view(np.uint8), out=counts)
    return counts


Array = NDArray[np.float64]
Places = NDArray[np.integer[Any]]


def by_unit(keys: Keys, statistics: Array) -> tuple[Keys, Array]:
    """Rows of one sentence summed, by ascending key; the order they came in changes not even the last bit."""
    if not len(keys):
        return keys, statistics
    order = np.argsort(keys)
    ordered = keys[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=~ordered[:1]))
    if len(starts) == len(keys):
        return ordered, statistics[order]
    order = np.lexsort((statistics[:, -1], statistics[:, 0], keys))
    return ordered[starts], np.add.reduceat(statistics[order], starts, axis=0)


def aligned(keys: Keys, everywhere: Keys, values: NDArray[Any]) -> Array:
    """Values of some units spread over all, 0 elsewhere; both keys ascend."""
    spread = np.zeros((len(everywhere), *values.shape[1:]))
    spread[np.searchsorted(everywhere, keys)] = values
    return spread


def unit_means(keys: Keys, values: Array) -> Array:
    """The mean value of every unit, by ascending key."""
    _, sums = by_unit(keys, np.column_stack([values, np.ones(len(values))]))
    return np.asarray(sums[:, 0] / sums[:, 1])


def over_units(keys: Keys, statistics: Array, everywhere: Keys) -> Array:
    """Rows summed by unit, one for each of all units, ascending; 0 for those without a row."""
    own, summed = by_unit(keys, statistics)
    return aligned(own, everywhere, summed)


def marks_of(rows: Array) -> NDArray[np.uint64]:
    """A hash of each row's numbers."""
    return combined(np.ascontiguousarray(column, dtype=np.float64).view(np.uint64) for column in rows.T)


def short(marks: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """The better half of hashes: two that differ look alike once in four thousand million times."""
    return (marks >> np.uint64(32)).astype(np.uint32)


def combined(columns: Iterable[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """A hash of several words, place by place."""
    marks = np.zeros(1, dtype=np.uint64)
    for column in columns:
        marks = (marks ^ column) * np.uint64(0x9E3779B97F4A7C15)
        marks ^= marks >> np.uint64(29)
    return marks
