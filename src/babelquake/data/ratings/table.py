"""The shape of human ratings: one row per judgement, whoever collected it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

RATINGS: dict[str, Any] = {
    "language_pair": pl.String,
    "hit": pl.String,
    "annotator": pl.String,
    "system": pl.String,
    "segment": pl.String,
    "type": pl.String,
    "raw": pl.Float64,
    "z": pl.Float64,
    "seconds": pl.Float64,
    "document": pl.String,
    "spans": pl.String,
    "at": pl.Float64,
}
"""Columns of a table of ratings.

`hit` is the task the rating was part of, `raw` the score as given, `z` a standardised score where the file has one,
`seconds` the time this one judgement took, `spans` marked errors as JSON, `at` when it was given (Unix time).
"""
SYSTEM, REPEAT, REFERENCE, BAD_REFERENCE = "SYSTEM", "REPEAT", "REF", "BAD_REF"
DUPLICATE, TUTORIAL = "DUPLICATE", "TUTORIAL"
TYPES = (SYSTEM, REPEAT, REFERENCE, BAD_REFERENCE, DUPLICATE, TUTORIAL)
"""What was judged, in WMT's words: a system's translation; the same shown again; the reference in its place; a
degraded copy. DUPLICATE is a copy that only fills up a task, TUTORIAL a training item."""
COUNTED = (SYSTEM, REPEAT)
"""The types whose ratings say something about a system (WMT takes the mean over both)."""
SEGMENT_MEANS: dict[str, Any] = {
    "system": pl.String,
    "segment": pl.String,
    "raw": pl.Float64,
    "z": pl.Float64,
    "n": pl.Int64,
}
"""Columns of a table of segment means, where single ratings are not published."""


@dataclass(frozen=True)
class Ratings:
    """Single ratings, or segment means where a file has nothing finer, and what its reader noticed."""

    name: str
    frame: pl.DataFrame
    """One row per rating with the columns of `RATINGS`; further columns may follow."""
    means: pl.DataFrame | None = None
    """Segment means as published; `frame` is empty then."""
    notes: list[str] = field(default_factory=list)


def ratings_frame(columns: Mapping[str, Sequence[Any] | pl.Series]) -> pl.DataFrame:
    """Columns of ratings as a table with all of `RATINGS`; missing ones are null, types default to SYSTEM."""
    rows = len(next(iter(columns.values())))
    frame = pl.DataFrame(
        {
            name: pl.Series(name, columns[name], dtype=kind, strict=False)
            if name in columns
            else pl.Series(name, [None] * rows, dtype=kind)
            for name, kind in RATINGS.items()
        }
    )
    return frame.with_columns(pl.col("type").fill_null(SYSTEM))
