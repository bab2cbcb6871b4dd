"""The attack study's page: who falls for what, how little it takes, and whether the others fall for it too."""

import json
from typing import Any

import altair as alt
import polars as pl

from babelquake.report.attack.tables import attack_tables, effect
from babelquake.report.charts import SHADES, Chart, View, data, dots, points, tooltips
from babelquake.report.pack import Packed, with_scorers_shown
from babelquake.report.page import Examples, Page
from babelquake.report.remedies import against_attacks
from babelquake.report.results import named, recipe_text, results_of
from babelquake.runs.results import Results, values
from babelquake.runs.run import Run

CELL = 46
"""Height of one line of the heat map."""


def attack_views(run: Run) -> list[View]:
    """One view: everything there is."""
    results = results_of(run)
    charts = [*_shares(results), *_transfer(results), *_degradation(run, results)]
    return [View("all", charts)] if charts else []


def _shares(results: Results) -> list[Chart]:
    rows = results.known("success", group=None)
    if not rows:
        return []
    shown = points(rows, name=named(rows), label=lambda row: recipe_text(row["perturbation"]))
    share = alt.Scale(domain=[0, 100])
    chart = dots(
        shown, values(shown, "name"), "victim", "% of sentences", share, label="attack", value="% of sentences"
    )
    described = "The share of sentences for which an attack finds an edit that meets its goal, with 95 % intervals."
    return [Chart("attack-success", "How often each attack succeeds", described, chart)]


def _transfer(results: Results) -> list[Chart]:
    rows = results.known("transfer", perturbation=None)
    if not rows:
        return []
    victim, other = named(rows), named(rows, "other")
    cells = [
        {"name": victim(row), "label": other(row), "value": row["value"], "shown": f"{row['value']:.0f}", "n": row["n"]}
        for row in rows
    ]
    base = alt.Chart(data(cells)).encode(
        x=alt.X("label:N", title="judged by", sort=None, axis=alt.Axis(labelAngle=-20, orient="top")),
        y=alt.Y("name:N", title="found against", sort=None),
    )
    squares = base.mark_rect().encode(
        color=alt.Color("value:Q", title="% fooled", scale=alt.Scale(range=SHADES, domain=[0, 100])),
        tooltip=tooltips(name="found against", label="judged by", value="% that meet the goal", n="perturbations"),
    )
    numbers = base.mark_text(fontSize=13, color="black").encode(text="shown:N")
    described = (
        "Of the perturbations found against the metric of a line, the share that meets the goal under the metric of a "
        "column, each on its own scale."
    )
    chart = alt.layer(squares, numbers).properties(height=CELL * len(values(cells, "name")))
    return [Chart("attack-transfer", "Transfer", described, chart)]


def _degradation(run: Run, results: Results) -> list[Chart]:
    """Figure 5: what the metric takes off, beside what people do; medians and the middle half of each cell."""
    rows = results.where("degradation")
    if not rows or not run.has("rated"):
        return []
    victim, rated = named(rows), run.table("rated")
    what = effect(run)
    shown: list[dict[str, Any]] = []
    for row in rows:
        cell = rated.filter(
            pl.col("group").eq_missing(pl.lit(row["group"])), victim=row["scorer"], recipe=row["perturbation"]
        )
        about = " · ".join(filter(None, [row["group"], victim(row), recipe_text(row["perturbation"])]))
        for who, column in (("metric", "metric_drop"), ("people", "human_drop")):
            low, middle, high = (cell[column].quantile(share, "linear") for share in (0.25, 0.5, 0.75))
            shown.append({"label": about, "name": who, "value": middle, "low": low, "high": high})
    chart = dots(
        shown,
        ["metric", "people"],
        "judged by",
        f"{what} (standard deviations)",
        alt.Scale(zero=False),
        "middle half",
        room=360,
        label="cell",
        value=f"median {what}",
    )
    described = (
        f"{what.capitalize()} of perturbed translations as the metric and as people judge it (Huang 2023 Figure 5): "
        "medians, and lines from the first quartile to the third."
    )
    return [Chart("attack-degradation", "Metric and people", described, chart, wide=True)]


RENDERED = ("rendering", "rendering_perturbed")
"""What an attacked system makes of the source before and after."""
FACETS = (("scorer", "Victim"), ("cell", "Attack"), ("kinds", "Edits"))


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


EXAMPLES = Examples(found, "scorer", columns, titled=recipe_text, title="Worst of these edits")


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


PAGE = Page(
    attack_tables, attack_views, EXAMPLES, compared=("success",), question=attack_question, advice=against_attacks
)
