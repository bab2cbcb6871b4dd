"""Examples of the MT study: translations of clean and of perturbed sources side by side."""

from typing import Any

import polars as pl

from babelquake.report.failure_words import failure_label
from babelquake.report.pack import Packed
from babelquake.report.page import Examples
from babelquake.report.results import base_name, short_names
from babelquake.runs.run import Run

FACETS = (("system", "System"), ("cell", "Perturbation"), ("failure", "Failure"))
"""What examples are filtered by: column, label."""


def mt_examples(run: Run, wanted: pl.Expr) -> pl.LazyFrame:
    """Per perturbed source the translation before and after; the damage is the quality that was lost.

    Without references, or without chrF, it is how far the translation is from that of the clean source.
    """
    translations = run.scan("translations").filter(wanted)
    clean = translations.filter(pl.col("perturbation").is_null()).select(
        "system", "row", pl.col("source").alias("original"), pl.col("judged").alias("before")
    )
    on = ["system", "language_pair", "row", "perturbation", "level", "replicate"]
    beside = pl.col("kind") == "not-translated"  # says what is missing beside another failure
    failures = run.scan("failures").filter(pl.col("perturbation").is_not_null())
    failures = failures.sort("score", ~beside, descending=True)
    worst = failures.unique(on, keep="first", maintain_order=True).select(*on, pl.col("kind").alias("failure"))
    found = (
        translations.filter(pl.col("perturbation").is_not_null())
        .join(worst, on=on, how="left", nulls_equal=True, maintain_order="left")
        .join(clean, on=["system", "row"], how="left", maintain_order="left")
        .rename({"source": "text", "judged": "after"})
    )
    chrf = _with_references(run)
    if chrf is None:
        return found.with_columns(drop=100 - pl.col("consistency"))
    scores = run.scan("scores").filter(pl.col("scorer") == chrf, wanted)
    was = scores.filter(pl.col("perturbation").is_null()).select("system", "row", was="score")
    return (
        found.join(was, on=["system", "row"], how="left", maintain_order="left")
        .join(scores.select(*on, now="score"), on=on, how="left", nulls_equal=True, maintain_order="left")
        .with_columns(drop=pl.col("was") - pl.col("now"))
    )


def _with_references(run: Run) -> str | None:
    """The chrF that judged the translations, where there were references to judge them by."""
    names = (name for name in run.info.listed("scorer") if base_name(name) == "chrf")
    if (chrf := next(names, None)) is None or not run.has("scores"):
        return None
    known = run.scan("scores").filter(pl.col("scorer") == chrf, pl.col("score").is_not_null())
    return chrf if known.head(1).collect().height else None


def mt_columns(run: Run, table: pl.DataFrame) -> dict[str, Any]:
    """Source and translation before and after, beside the reference."""
    short = short_names(run.measures.filter(measure="consis")["system"])
    failures = pl.col("failure").replace({kind: failure_label(kind) for kind in table["failure"].drop_nulls().unique()})
    packed = Packed(table.with_columns(pl.col("system").replace(short), failures.fill_null("no failure found")))
    packed.changed("Source", "original", "text")
    packed.changed("Translation", "before", "after")
    packed.beside("Reference", "segment_reference", against=1)
    lost = "chrF lost" if "now" in table.columns else "difference from the translation of the clean source, in chrF"
    return packed.columns(lost, FACETS)


EXAMPLES = Examples(mt_examples, "system", mt_columns)
