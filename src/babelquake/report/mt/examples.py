"""Examples of the MT study: translations of clean and of perturbed sources side by side."""

from typing import Any

import polars as pl

from babelquake.report.pack import Packed
from babelquake.report.page import Examples
from babelquake.report.results import short_names
from babelquake.runs.run import Run

FACETS = (("system", "System"), ("cell", "Perturbation"), ("failure", "Failure"))
"""What examples are filtered by: column, label."""


def mt_examples(run: Run, wanted: pl.Expr) -> pl.LazyFrame:
    """Per perturbed source the translation before and after; the damage is the chrF that was lost."""
    translations = run.scan("translations").filter(wanted)
    clean = translations.filter(pl.col("perturbation").is_null()).select(
        "system", "row", pl.col("source").alias("original"), pl.col("judged").alias("before")
    )
    on = ["system", "language_pair", "row", "perturbation", "level", "replicate"]
    failures = run.scan("failures").filter(pl.col("perturbation").is_not_null()).sort("score", descending=True)
    worst = failures.unique(on, keep="first", maintain_order=True).select(*on, pl.col("kind").alias("failure"))
    return (
        translations.filter(pl.col("perturbation").is_not_null())
        .join(worst, on=on, how="left", nulls_equal=True, maintain_order="left")
        .join(clean, on=["system", "row"], how="left", maintain_order="left")
        .with_columns(drop=100 - pl.col("consistency"))
        .rename({"source": "text", "judged": "after"})
    )


def mt_columns(run: Run, table: pl.DataFrame) -> dict[str, Any]:
    """Source and translation before and after, beside the reference."""
    short = short_names(run.measures.filter(measure="consis")["system"])
    packed = Packed(table.with_columns(pl.col("system").replace(short), pl.col("failure").fill_null("none found")))
    packed.changed("Source", "original", "text")
    packed.changed("Translation", "before", "after")
    packed.beside("Reference", "segment_reference", against=1)
    return packed.columns("chrF lost against the translation of the clean source", FACETS)


EXAMPLES = Examples(mt_examples, "system", mt_columns)
