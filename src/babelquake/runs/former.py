"""Measures of the first version: differences, tokenizers and severities stood in columns that say something else."""

import polars as pl

from babelquake.runs.info import FORMER_NAMES
from babelquake.runs.measures import COLUMNS

UNKNOWN = ("unknown_tokens", "unk_share")
CHALLENGE = ("detection_accuracy", "change_ratio")
SEVERITY = "severity: "


def upgraded(table: pl.DataFrame) -> pl.DataFrame:
    """The table with today's columns, every value in the one whose name says what it is."""
    if set(COLUMNS) <= set(table.columns):
        return table
    missing = {name: pl.lit(None, kind) for name, kind in COLUMNS.items() if name not in table.columns}
    sides = {name: pl.col(name).str.split(" − ").list for name in ("system", "scorer")}
    unknown, challenge = pl.col("measure").is_in(UNKNOWN), pl.col("measure").is_in(CHALLENGE)
    severe = challenge & pl.col("perturbation").str.starts_with(SEVERITY)
    nothing = pl.lit(None, pl.String)
    return table.with_columns(**missing).with_columns(
        study=pl.col("study").replace(FORMER_NAMES),
        system=sides["system"].first(),
        scorer=pl.when(unknown).then(nothing).otherwise(sides["scorer"].first()),
        other=pl.coalesce(side.get(1, null_on_oob=True) for side in sides.values()),
        tokenizer=pl.when(unknown).then(pl.col("scorer")),
        group=pl.when(severe).then(pl.col("perturbation").str.strip_prefix(SEVERITY)),
        perturbation=pl.when(severe | (challenge & (pl.col("perturbation") == "all")))
        .then(nothing)
        .otherwise(pl.col("perturbation")),
    )
