"""How many n-grams two texts share, counted exactly in compiled code.

The n-grams of a reference form a tree: an n-gram is a child of its first n−1 symbols. The tree lives in one hash table
whose key is (slot of the parent, next symbol), compared in full, so that different n-grams never mix. A translation
walks the tree from each of its positions and stops at the first n-gram the reference lacks: no longer one can match.
"""

import numpy as np
from numpy.typing import NDArray

from babelquake.compiled import compiled
from babelquake.scorers.strings.code_points import SPREAD, Values
from babelquake.scorers.strings.pairs import Ids
from babelquake.scorers.strings.symbols import Symbols

Counts = NDArray[np.int64]
Keys = NDArray[np.uint64]
Tally = NDArray[np.int32]

ONE = np.uint64(1)
HALF = np.uint64(32)


def totals(lengths: Ids, order: int) -> Counts:
    """The number of n-grams of a text of L symbols for n = 1 … order: max(0, L − n + 1), shape (texts, order)."""
    return np.asarray(np.maximum(0, lengths[:, None] - np.arange(order)))


def shared(symbols: Symbols, translation: Ids, reference_set: Ids, set_starts: Ids, members: Ids, order: int) -> Counts:
    """Σ min(count in translation, greatest count in any reference of the set) per order, shape (pairs, order)."""
    by_set = np.argsort(reference_set, kind="stable")
    return _shared(symbols.values, symbols.starts, translation, reference_set, by_set, set_starts, members, order)


@compiled
def _shared(
    values: Values,
    starts: Ids,
    translation: Ids,
    reference_set: Ids,
    by_set: Ids,
    set_starts: Ids,
    members: Ids,
    order: int,
) -> Counts:
    longest = largest = 0
    for text in range(len(starts) - 1):
        longest = max(longest, starts[text + 1] - starts[text])
    for group in range(len(set_starts) - 1):
        largest = max(largest, _size(starts, members[set_starts[group] : set_starts[group + 1]]))
    room = 1 << _bits(order * largest)
    keys = np.zeros(room, np.uint64)
    most = np.zeros(room, np.int32)
    seen = np.zeros(room, np.int32)
    touched = np.empty(longest * order, np.uint64)
    matches = np.zeros((len(translation), order), np.int64)
    current, bits = np.int64(-1), 0
    for pair in by_set:
        if reference_set[pair] != current:
            for slot in range((1 << bits) if bits else 0):
                keys[slot] = most[slot] = 0
            current = reference_set[pair]
            references = members[set_starts[current] : set_starts[current + 1]]
            bits = _bits(order * _size(starts, references))
            for text in references:
                _grow(values[starts[text] : starts[text + 1]], order, keys, most, seen, touched, bits)
        text = translation[pair]
        _match(values[starts[text] : starts[text + 1]], order, keys, most, seen, touched, bits, matches[pair])
    return matches


@compiled
def _size(starts: Ids, texts: Ids) -> int:
    """Symbols in all of the texts."""
    size = 0
    for text in texts:
        size += starts[text + 1] - starts[text]
    return size


@compiled
def _bits(entries: int) -> int:
    """The table for so many n-grams has 2 to this power slots and is at most half full."""
    bits = 4
    while (1 << bits) < 2 * entries:
        bits += 1
    return bits


@compiled
def _slot(keys: Keys, key: np.uint64, bits: int) -> np.uint64:
    """Where a key is, or would go."""
    mask = np.uint64((1 << bits) - 1)
    slot = (key * SPREAD) >> np.uint64(64 - bits)
    while keys[slot] != key and keys[slot] != 0:
        slot = (slot + ONE) & mask
    return slot


@compiled
def _grow(text: Values, order: int, keys: Keys, most: Tally, seen: Tally, touched: Keys, bits: int) -> None:
    """Enter a reference's n-grams into the tree, each with the greatest count in any reference so far."""
    visits = 0
    for start in range(len(text)):
        parent = np.uint64(0)
        for position in range(start, min(start + order, len(text))):
            key = (parent << HALF) | (np.uint64(text[position]) + ONE)
            slot = _slot(keys, key, bits)
            keys[slot] = key
            seen[slot] += 1
            most[slot] = max(most[slot], seen[slot])
            touched[visits] = slot
            visits += 1
            parent = slot + ONE
    for visit in range(visits):
        seen[touched[visit]] = 0


@compiled
def _match(
    text: Values, order: int, keys: Keys, most: Tally, seen: Tally, touched: Keys, bits: int, matches: Counts
) -> None:
    """Count the translation's n-grams that the tree has, each as often as the tree has it at most."""
    visits = 0
    for start in range(len(text)):
        parent = np.uint64(0)
        for position in range(start, min(start + order, len(text))):
            key = (parent << HALF) | (np.uint64(text[position]) + ONE)
            slot = _slot(keys, key, bits)
            if keys[slot] == 0:
                break
            matches[position - start] += seen[slot] < most[slot]
            seen[slot] += 1
            touched[visits] = slot
            visits += 1
            parent = slot + ONE
    for visit in range(visits):
        seen[touched[visit]] = 0
