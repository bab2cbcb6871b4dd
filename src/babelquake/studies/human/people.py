"""How annotators work: time per item, use of the scale, and who deserves a closer look."""

import json
from dataclasses import dataclass
from typing import Any

import polars as pl

from babelquake.data.ratings.table import TUTORIAL

FAST_SHARE = 0.25
"""Faster than this share of the campaign's median time per item is suspicious."""
FLAT = 5.0
"""A standard deviation below this many points uses next to nothing of a scale of 100."""
ENOUGH = 10
"""Ratings before anything is held against anybody."""


def annotator_habits(ratings: pl.DataFrame, quality: pl.DataFrame) -> pl.DataFrame:
    """Per annotator: ratings, tasks, mean and spread of scores, median seconds, quality control, suspicions."""
    working = ratings.filter(pl.col("type") != TUTORIAL)
    usual = working["seconds"].median()
    most_common = pl.col("raw").value_counts(sort=True).first().struct.field("count") / pl.len()
    habits = working.group_by("annotator", maintain_order=True).agg(
        ratings=pl.len().cast(pl.Int64),
        tasks=pl.col("hit").n_unique().cast(pl.Int64),
        mean=pl.col("raw").mean(),
        sd=pl.col("raw").std(ddof=1),
        seconds=pl.col("seconds").median(),
        same=most_common,
    )
    found = habits.join(quality, on="annotator", how="left", maintain_order="left")
    reasons = [_suspicions(row, usual) for row in found.iter_rows(named=True)]
    return found.with_columns(suspicions=pl.Series(reasons, dtype=pl.List(pl.String)))


def _suspicions(row: dict[str, Any], usual: Any) -> list[str]:
    """Reasons to look closer, in words."""
    if row["ratings"] < ENOUGH:
        return []
    found = []
    if row["passed"] is False:
        found.append("degraded translations were not scored lower")
    if row["sd"] is not None and row["sd"] < FLAT:
        found.append("hardly uses the scale")
    elif row["same"] is not None and row["same"] > 0.5:
        found.append("the same score for most items")
    if usual and row["seconds"] is not None and row["seconds"] < FAST_SHARE * usual:
        found.append("much faster than the others")
    return found


@dataclass(frozen=True)
class Times:
    """Seconds per rating, and hours in all; None where nobody took the time."""

    median: float | None = None
    quarter: float | None = None
    three_quarters: float | None = None
    hours: float | None = None


def times(ratings: pl.DataFrame) -> Times:
    """How long ratings took."""
    seconds = ratings["seconds"].drop_nulls()
    if not seconds.len():
        return Times()
    quarter, median, three_quarters = (seconds.quantile(share, "linear") for share in (0.25, 0.5, 0.75))
    return Times(median, quarter, three_quarters, float(seconds.sum()) / 3600)


def span_counts(ratings: pl.DataFrame) -> pl.DataFrame:
    """Per system: minor and major errors marked per rating (ESA; Kocmi et al. 2024); no rows without spans."""
    marked = ratings.filter(pl.col("spans").is_not_null())
    counted = marked.select(
        "system",
        minor=pl.Series([_count(cell, "minor") for cell in marked["spans"]], dtype=pl.Int64),
        major=pl.Series([_count(cell, "major") for cell in marked["spans"]], dtype=pl.Int64),
    )
    return counted.group_by("system", maintain_order=True).agg(pl.col("minor").mean(), pl.col("major").mean())


def _count(cell: str, severity: str) -> int:
    return sum(span.get("severity") == severity for span in json.loads(cell))
