"""The attack study's page: who falls for what, how little it takes, and whether the others fall for it too."""

import json
from typing import Any

import polars as pl

from babelquake.report.attack.charts import attack_views
from babelquake.report.attack.tables import attack_tables
from babelquake.report.pack import Packed, with_scorers_shown
from babelquake.report.page import Examples, Page
from babelquake.runs.run import Run

RENDERED = ("rendering", "rendering_perturbed")
"""What an attacked system makes of the source before and after."""
FACETS = (("scorer", "Victim"), ("cell", "Recipe"), ("kinds", "Edits"))


def found(run: Run, wanted: pl.Expr) -> pl.LazyFrame:
    """Eligible perturbations: normalised scores before and after; the damage is what the goal gained."""
    attacks = run.scan("attacks").filter(wanted & pl.col("success"))
    rendered = [name for name in RENDERED if run.has("renderings")]
    if rendered:
        attacks = attacks.join(run.scan("renderings"), on="tuple", how="left", maintain_order="left")
    return attacks.select(
        "row",
        "id",
        pl.col("victim").alias("scorer"),
        pl.col("recipe").alias("perturbation"),
        pl.lit(None, pl.Float64).alias("level"),
        pl.lit(0).alias("replicate"),
        pl.col("original"),
        pl.col("perturbed").alias("text"),
        pl.col("score").alias("before"),
        pl.col("score_perturbed").alias("after"),
        pl.col("gain").alias("drop"),
        "edits",
        "words_changed",
        *rendered,
    )


def columns(run: Run, table: pl.DataFrame) -> dict[str, Any]:
    """The attacked text before and after, with both scores; source and reference beside it."""
    kinds = [
        ", ".join(sorted({edit["kind"] for edit in json.loads(edits)})) for edits in table["edits"].fill_null("[]")
    ]
    packed = Packed(with_scorers_shown(table).with_columns(kinds=pl.Series(kinds, dtype=pl.String)))
    on_system = run.info.config.get("system")
    packed.changed("Source" if on_system else "Translation", "original", "text")
    if set(RENDERED) <= set(packed.table.columns):
        packed.changed("Translation", *RENDERED)
    if not on_system:
        packed.beside("Source", "segment_source")
    packed.beside("Reference", "segment_reference")
    return packed.columns("gain", FACETS, ("drop", "before", "after"))


EXAMPLES = Examples(found, "scorer", columns)


QUESTIONS = {
    "inflate": "Which small edits make this metric score far too high?",
    "inconsistent": "Which small edits does this metric judge inconsistently?",
    "collapse": "Which small edits of a source make this system's translation collapse?",
}


def attack_question(run: Run) -> str | None:
    """What was searched for, where it is not what the study searches as a rule."""
    return QUESTIONS.get(_goal(run)[0])


def _goal(run: Run) -> tuple[str, str]:
    """The goal's name and its options."""
    name, _, options = str(run.info.config.get("goal", "")).partition("[")
    return name, options.rstrip("]")


PAGE = Page(attack_tables, attack_views, EXAMPLES, compared=("success",), question=attack_question)
