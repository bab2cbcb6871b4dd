"""Segments are the unit of chance: what varies is which sentences happen to be in the test set.

A segment is known by its sentence – the source, or where there is none the reference or the id – and not by its
row: several systems' translations of one sentence, replicates of a perturbation and repeated lines are one unit,
and the order of rows means nothing.
"""

import numpy as np
import polars as pl

from babelquake.stats.resampling import Keys, segment_keys


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
