"""The shape of results: tidy, one number a row. Every study makes it, every reader reads it."""

from typing import Any

import polars as pl

MEASURES = {
    "study": pl.String,
    "language_pair": pl.String,
    "system": pl.String,
    "scorer": pl.String,
    "perturbation": pl.String,
    "level": pl.Float64,
    "measure": pl.String,
    "value": pl.Float64,
    "sd": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "p": pl.Float64,
    "p_corrected": pl.Float64,
    "n": pl.Int64,
    "signature": pl.String,
}
"""The columns of measures.csv, empty where they do not apply."""


def measures_frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Rows of results as a table with all of `MEASURES`, missing ones null."""
    for row in rows:
        if unknown := row.keys() - MEASURES.keys():
            raise ValueError(f"not columns of measures: {sorted(unknown)}")
    frame = pl.DataFrame(rows, schema={name: MEASURES[name] for name in MEASURES}, orient="row")
    numbers = pl.col(pl.Float64)
    return frame.with_columns(pl.when(numbers.is_finite()).then(numbers).name.keep())
