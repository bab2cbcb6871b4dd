"""Examples of the studies that judge perturbed texts: scores before and after."""

from typing import Any

import polars as pl

from babelquake.report.pack import Packed, with_scorers_shown
from babelquake.report.page import Examples
from babelquake.runs.run import Run

FACETS = (("scorer", "Scorer"), ("cell", "Perturbation"), ("meaning", "Meaning"))
"""What examples are filtered by: column, label."""


def judged_examples(run: Run, wanted: pl.Expr) -> pl.LazyFrame:
    """Every judged variant; those of a challenge set came with the data."""
    return _perturbed_here(run, wanted) if run.has("variants") else _challenge_examples(run, wanted)


def _perturbed_here(run: Run, wanted: pl.Expr) -> pl.LazyFrame:
    """Scores of perturbed texts beside those of the clean ones; the damage is what the score lost."""
    scores = run.scan("scores").filter(wanted).with_columns(pl.col("score").fill_nan(None))
    who = [name for name in ("scorer", "system", "row") if name in scores.collect_schema()]
    clean = scores.filter(pl.col("perturbation").is_null()).select(*who, pl.col("score").alias("before"))
    return (
        scores.filter(pl.col("perturbation").is_not_null())
        .rename({"score": "after"})
        .join(clean, on=who, how="left", nulls_equal=True, maintain_order="left")
        .with_columns(drop=_damage(run))
    )


def _damage(run: Run) -> pl.Expr:
    """What the score lost; of scorers that count errors, what it gained."""
    errors = run.info.facts.lower_is_better
    lost = pl.col("before") - pl.col("after")
    return pl.when(pl.col("scorer").is_in(errors)).then(-lost).otherwise(lost)


def _challenge_examples(run: Run, wanted: pl.Expr) -> pl.LazyFrame:
    """Triples of a challenge set, whose perturbed translations came with the data."""
    segments = (
        run.scan("segments")
        .filter(wanted)
        .select("row", pl.col("translation").alias("original"), pl.col("translation_perturbed").alias("text"))
    )
    return (
        run.scan("scores")
        .filter(wanted)
        .rename({"score": "before", "score_perturbed": "after", "phenomenon": "perturbation"})
        .join(segments, on="row", how="left", maintain_order="left")
        .with_columns(level=pl.lit(None, pl.Float64), drop=_damage(run))
    )


def judged_columns(run: Run, table: pl.DataFrame) -> dict[str, Any]:
    """The perturbed side before and after, with both scores; the other sides beside it."""
    meanings = run.info.facts.meaning | {label: found.meaning for label, found in run.info.facts.probes.items()}
    meaning = [meanings.get(label, "depends") for label in table["perturbation"]]
    packed = Packed(with_scorers_shown(table).with_columns(meaning=pl.Series(meaning, dtype=pl.String)))
    side = str(run.info.config.get("side", "translation"))
    packed.changed(side.capitalize(), "original", "text")
    for name in ("source", "translation", "reference") if side != "source" else ():
        if name != side and not (name == "reference" and _stands_in(table)):
            packed.beside(name.capitalize(), f"segment_{name}")
    packed.beside("Errors marked", "errors")
    return packed.columns("score lost", FACETS, ("drop", "before", "after"))


def _stands_in(table: pl.DataFrame) -> bool:
    """Whether there are no references: quality estimation compares with the source in their place."""
    return bool((table["segment_reference"] == table["segment_source"]).all())


EXAMPLES = Examples(judged_examples, "scorer", judged_columns)
