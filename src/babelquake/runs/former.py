"""Tables of the first version with today's columns.

In its measures, differences, tokenizers and severities stood in columns that say something else. Its other tables did
not say which perturbed texts differ from their original.
"""

from collections.abc import Callable

import polars as pl

from babelquake.runs.info import FORMER_NAMES
from babelquake.runs.measures import COLUMNS

UNKNOWN = ("unknown_tokens", "unk_share")
CHALLENGE = ("detection_accuracy", "change_ratio")
SEVERITY = "severity: "
CHANGED = frozenset({"variants", "translations", "sums"})
"""The tables that say which perturbed texts differ from their original."""
VARIANT = ["row", "perturbation", "level"]


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


def with_changed(name: str, table: pl.LazyFrame, scan: Callable[[str], pl.LazyFrame]) -> pl.LazyFrame:
    """The table with a column `changed`, found by comparing texts; `scan` reads the run's other tables."""
    columns = table.collect_schema().names()
    if name not in CHANGED or "changed" in columns or "perturbation" not in columns:
        return table
    if name == "sums":
        found = scan("variants").group_by(VARIANT).agg(pl.col("changed").any())
        made = table.select(VARIANT).join(found, VARIANT, "left", nulls_equal=True, maintain_order="left")
        made = made.with_columns(pl.col("changed").fill_null(value=False))
    else:
        segments = scan("segments")
        texts = "text" if "text" in segments.collect_schema().names() else "source"
        clean = segments.select("row", pl.col(texts).alias("clean"))
        own = pl.col("text" if name == "variants" else "source")
        made = table.select("row", own.alias("own"), "perturbation").join(clean, "row", "left", maintain_order="left")
        perturbed = pl.col("perturbation").is_not_null()
        made = made.with_columns(pl.when(perturbed).then(pl.col("own").ne_missing(pl.col("clean"))).alias("changed"))
    return pl.concat([table, made.select("changed").collect().lazy()], how="horizontal")
