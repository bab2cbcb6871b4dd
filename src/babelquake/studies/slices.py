"""Parts of the data that are looked at one by one: the segments of each value of a column (`--by`).

A column of lists puts a segment into several slices, such as every phenomenon that was annotated in it. Numbers with
many values are cut into quarters; `length` is the number of words of the source, in bands, where the data have no
such column.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from babelquake.errors import UserError, did_you_mean, setting

Rows = NDArray[np.uint32]
Slices = Mapping[str, Rows]
"""Value → the rows of its segments."""
LENGTH = "length"
BANDS = (1, 6, 11, 21, 41)
"""Where bands of length begin, in words."""
MOST_VALUES = 12
"""Numbers with more different values than this are cut into quarters."""
MOST_SLICES = 500
OURS = frozenset({"row", "given", "references", "source", "text", "translation", "resampling_unit"})


def slicing_column(by: str | None, columns: pl.DataFrame) -> str | None:
    """The column to look at the data by, or what is wrong with its name."""
    known = [name for name in columns.columns if name not in OURS]
    if by is not None and by not in known and by != LENGTH:
        raise UserError(f"{setting('by', by)}: the data have no such column. {did_you_mean(by, [*known, LENGTH])}")
    return by


def slices_of(segments: pl.DataFrame, by: str | None) -> Slices:
    """The rows of every value, the values in order; nothing where nobody asks."""
    if by is None or slicing_column(by, segments) is None:
        return {}
    named = segments.select("row", value=_values(segments, by)).drop_nulls()
    found = dict(_by_value(named))
    if len(found) > MOST_SLICES:
        raise UserError(
            f"{setting('by', by)}: {len(found):,} different values. At most {MOST_SLICES} can be looked at."
        )
    return found


def _by_value(named: pl.DataFrame) -> Iterator[tuple[str, Rows]]:
    if isinstance(named.schema["value"], pl.List):
        named = named.explode("value").drop_nulls()
    if named.schema["value"].is_numeric() and named["value"].n_unique() > MOST_VALUES:
        named = named.with_columns(value=_quarters(named["value"]))
    for (value,), part in named.sort("value", maintain_order=True).group_by("value", maintain_order=True):
        text = f"{value:g}" if isinstance(value, float) else str(value)
        if text:
            yield text, np.unique(part["row"].to_numpy())


def _values(segments: pl.DataFrame, by: str) -> pl.Series:
    if by in segments.columns:
        return segments[by]
    words = segments["source"].fill_null("").str.count_matches(r"\S+")
    names = [f"{start:02d}–{after - 1} words" for start, after in pairwise(BANDS)]
    names.append(f"{BANDS[-1]} words or more")
    places = np.searchsorted(BANDS, words.to_numpy(), side="right") - 1
    return pl.Series([names[place] if place >= 0 else None for place in places], dtype=pl.String)


def _quarters(values: pl.Series) -> pl.Series:
    """Numbers as the quarter they lie in, named by its ends."""
    edges = [float(values.quantile(share, "nearest") or 0) for share in (0, 0.25, 0.5, 0.75, 1)]
    places = np.clip(np.searchsorted(edges[1:], values.to_numpy(), side="left"), 0, 3)
    names = [f"{place + 1}: {edges[place]:g} to {edges[place + 1]:g}" for place in range(4)]
    return pl.Series([names[place] for place in places], dtype=pl.String)
