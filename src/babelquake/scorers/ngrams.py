"""How many n-grams two texts share, counted exactly in compiled code.

The n-grams of a reference form a tree: an n-gram is a child of its first n−1 symbols. The tree lives in one hash table
whose key is (slot of the parent, next symbol), compared in full, so that different n-grams never mix. A translation
walks the tree from each of its positions and stops at the first n-gram the reference lacks: no longer one can match.
"""

import numpy as np
from numpy.typing import NDArray

from babelquake.scorers.compiled import compiled
from babelquake.scorers.pairs import Ids
from babelquake.scorers.scanning import SPREAD, Values
from babelquake.scorers.symbols import Symbols

Counts = NDArray[np.int64]

ONE = np.uint64(1)
HALF = np.uint64(32)


def totals(lengths: Ids, order: int) -> Counts:
    """The number of n-grams of a text of L symbols for n = 1 … order: max(0, L − n + 1), shape (texts, order)."""
    return np.asarray(np.maximum(0, lengths[:, None] - np.arange(order)))


def shared(symbols: Symbols, translation: Ids, reference_set: Ids, set_starts: Ids, members: Ids, order: int) -> Counts:
    """Σ min(count in translation, greatest count in any reference of the set) per order, shape (pairs, order)."""
    by_set = np.argsort(reference_set, kind="stable")
    return _shared(
        symbols.values, symbols.starts, translation, reference_set, by_set, set_starts, members, np.int64(order)
    )


@compiled
def _shared(
    values: Values,
    starts: Ids,
    translation: Ids,
    reference_set: Ids,
    by_set: Ids,
    set_starts: Ids,
    members: Ids,
    order: np.int64,
) -> Counts:
    longest = 0
    for text in range(len(starts) - 1):
        longest = max(longest, starts[text + 1] - starts[text])
    room = 0
    for group in range(len(set_starts) - 1):
        symbols = 0
        for member in range(set_starts[group], set_starts[group + 1]):
            symbols += starts[members[member] + 1] - starts[members[member]]
        room = max(room, symbols)
    bits = 4
    while (1 << bits) < 2 * order * room:
        bits += 1
    keys = np.zeros(1 << bits, np.uint64)
    most = np.zeros(1 << bits, np.int32)
    seen = np.zeros(1 << bits, np.int32)
    touched = np.empty(longest * order, np.uint64)
    matches = np.zeros((len(translation), order), np.int64)
    current = np.int64(-1)
    for pair in by_set:
        if reference_set[pair] != current:
            current = reference_set[pair]
            keys[: 1 << bits] = 0
            most[: 1 << bits] = 0
            symbols = 0
            for member in range(set_starts[current], set_starts[current + 1]):
                symbols += starts[members[member] + 1] - starts[members[member]]
            bits = 4
            while (1 << bits) < 2 * order * symbols:
                bits += 1
            shift = np.uint64(64 - bits)
            mask = np.uint64((1 << bits) - 1)
            for member in range(set_starts[current], set_starts[current + 1]):
                visited = 0
                stop = starts[members[member] + 1]
                for start in range(starts[members[member]], stop):
                    parent = np.uint64(0)
                    for position in range(start, min(start + order, stop)):
                        key = (parent << HALF) | (np.uint64(values[position]) + ONE)
                        slot = (key * SPREAD) >> shift
                        while keys[slot] != key and keys[slot] != 0:
                            slot = (slot + ONE) & mask
                        keys[slot] = key
                        seen[slot] += 1
                        most[slot] = max(most[slot], seen[slot])
                        touched[visited] = slot
                        visited += 1
                        parent = slot + ONE
                for visit in range(visited):
                    seen[touched[visit]] = 0
        visited = 0
        stop = starts[translation[pair] + 1]
        for start in range(starts[translation[pair]], stop):
            parent = np.uint64(0)
            for position in range(start, min(start + order, stop)):
                key = (parent << HALF) | (np.uint64(values[position]) + ONE)
                slot = (key * SPREAD) >> shift
                while keys[slot] != key and keys[slot] != 0:
                    slot = (slot + ONE) & mask
                if keys[slot] == 0:
                    break
                if seen[slot] < most[slot]:
                    matches[pair, position - start] += 1
                seen[slot] += 1
                touched[visited] = slot
                visited += 1
                parent = slot + ONE
        for visit in range(visited):
            seen[touched[visit]] = 0
    return matches
