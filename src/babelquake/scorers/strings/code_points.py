"""Passes over the code points of many texts, in compiled code."""

import numpy as np
from numpy.typing import NDArray

from babelquake.compiled import compiled
from babelquake.scorers.strings.pairs import Ids

Values = NDArray[np.uint32]
Table = NDArray[np.bool_]

SPREAD = np.uint64(0x9E3779B97F4A7C15)


@compiled
def without(space: Table, values: Values, starts: Ids) -> tuple[Values, Ids]:
    """The texts less the symbols marked in a table; those beyond its end are kept."""
    kept = np.empty_like(values)
    kept_starts = np.zeros_like(starts)
    size = 0
    for text in range(len(starts) - 1):
        for position in range(starts[text], starts[text + 1]):
            value = values[position]
            kept[size] = value
            size += value >= len(space) or not space[value]
        kept_starts[text + 1] = size
    return kept[:size], kept_starts


@compiled
def numbered(space: Table, cut: Table, values: Values, starts: Ids) -> tuple[Values, Ids]:
    """The words between white space and cuts by number, and where each text's begin.

    Distinct words get numbers in order of appearance; a hash table finds candidates, a full comparison decides.
    """
    count = 0
    for text in range(len(starts) - 1):
        inside = False
        for position in range(starts[text], starts[text + 1]):
            value = values[position]
            blank = value < len(space) and space[value]
            count += not blank and (not inside or cut[position])
            inside = not blank
    bits = 4
    while (1 << bits) < 2 * count:
        bits += 1
    shift, mask = np.uint64(64 - bits), (1 << bits) - 1
    slots = np.full(1 << bits, -1, np.int32)
    hashes = np.empty(count, np.uint64)
    begins, ends = np.empty(count, np.int64), np.empty(count, np.int64)
    numbers = np.empty(count, np.uint32)
    number_starts = np.zeros_like(starts)
    distinct = size = 0
    for text in range(len(starts) - 1):
        position, stop = starts[text], starts[text + 1]
        while position < stop:
            if values[position] < len(space) and space[values[position]]:
                position += 1
                continue
            begin, code = position, np.uint64(0)
            while True:
                code = (code ^ np.uint64(values[position])) * SPREAD
                code ^= code >> np.uint64(32)
                position += 1
                if position == stop or cut[position] or (values[position] < len(space) and space[values[position]]):
                    break
            slot = np.int64((code * SPREAD) >> shift)
            while True:
                known = slots[slot]
                if known < 0:
                    slots[slot] = known = distinct
                    hashes[known], begins[known], ends[known] = code, begin, position
                    distinct += 1
                    break
                if hashes[known] == code and ends[known] - begins[known] == position - begin:
                    offset = 0
                    while begin + offset < position and values[begins[known] + offset] == values[begin + offset]:
                        offset += 1
                    if begin + offset == position:
                        break
                slot = (slot + 1) & mask
            numbers[size] = known
            size += 1
        number_starts[text + 1] = size
    return numbers, number_starts
