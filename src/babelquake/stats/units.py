"""Rows of statistics by the unit of chance: rows of one segment summed, spread over the segments of others, and marked.

Two tables differ in a row where its marks do.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from babelquake.stats.resampling import Keys

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
