"""Segments are the unit of chance: what varies is which sentences happen to be in the test set.

A segment is known by its sentence – the source, or where there is none the reference or the id – and not by its
row: several systems' translations of one sentence, replicates of a perturbation and repeated lines are one unit,
and the order of rows means nothing.
"""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from babelquake.scorers.base import Array
from babelquake.stats.resampling import Keys, segment_keys

Places = NDArray[np.integer[Any]]


def unit_keys(segments: pl.DataFrame) -> Keys:
    """The key of every row's sentence: of its source, or else its first reference, or else its id."""
    candidates = []
    for name in ("source", "references", "id"):
        if name in segments.columns:
            column = pl.col(name).list.first() if isinstance(segments.schema[name], pl.List) else pl.col(name)
            column = column.cast(pl.String)
            candidates.append(pl.when(column.str.strip_chars() != "").then(column))
    named = segments.select(pl.coalesce(*candidates, pl.lit("")).alias("name"))["name"]
    return segment_keys(named)


def keys_by_row(segments: pl.DataFrame) -> Keys:
    """The key of the sentence of row number r, at place r."""
    rows = segments["row"].to_numpy()
    keys = np.zeros(int(rows.max()) + 1 if rows.size else 0, dtype=np.uint64)
    keys[rows] = unit_keys(segments)
    return keys


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
