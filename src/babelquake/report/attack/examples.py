"""Every perturbation that was found, the most damaging edits first; the page marks what was changed."""

import json
from typing import Any

import polars as pl

from babelquake.report.packing import Strings, facets, rounded
from babelquake.report.page import Examples
from babelquake.report.results import scorer_text
from babelquake.runs.run import Run

FACETS = (("scorer", "Victim"), ("cell", "Recipe"), ("kinds", "Edits"))


def found(run: Run) -> pl.LazyFrame:
    """Eligible perturbations: normalised scores before and after; the damage is what the goal gained."""
    return (
        run.scan("attacks")
        .filter("success")
        .select(
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
        )
    )


def columns(run: Run, table: pl.DataFrame) -> dict[str, Any]:
    """The attacked text before and after, with both scores; source and reference beside it."""
    strings = Strings()
    source = run.info.config.get("system")
    changed = {
        "label": "Source" if source else "Translation",
        "was": strings.numbers(table["original"]),
        "now": strings.numbers(table["text"]),
    }
    plain = [
        {"label": name.capitalize(), "plain": strings.numbers(table[f"segment_{name}"])}
        for name in (("reference",) if source else ("source", "reference"))
        if table[f"segment_{name}"].null_count() < table.height
    ]
    kinds = [
        ", ".join(sorted({edit["kind"] for edit in json.loads(edits)})) for edits in table["edits"].fill_null("[]")
    ]
    scorers = table["scorer"].unique().to_list()
    shown = {name: scorer_text(name, scorers) for name in scorers}
    named = table.with_columns(kinds=pl.Series(kinds, dtype=pl.String), scorer=pl.col("scorer").replace(shown))
    return {
        "unit": "gain",
        "drop": rounded(table["drop"]),
        "before": rounded(table["before"]),
        "after": rounded(table["after"]),
        "facets": facets(FACETS, named),
        "texts": [changed, *plain],
        "strings": list(strings.known),
        "ids": table["id"].to_list(),
    }


EXAMPLES = Examples(found, "scorer", columns)
