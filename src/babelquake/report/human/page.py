"""The page of `human`: who is rated best, who can be trusted, how much is still to do."""

from typing import Any

import altair as alt

from babelquake.report.charts import BAD, GOOD, HEIGHT, NEUTRAL, PALETTE, Chart, View, data, lines, points, tooltips
from babelquake.report.human.tables import human_tables
from babelquake.report.page import Page
from babelquake.runs.run import Run


def human_views(run: Run) -> list[View]:
    """Per language pair: ratings with intervals, and how annotators use the scale."""
    measures = run.measures.filter(measure="rating_z")
    name = "rating_z" if measures.height else "rating"
    rows = run.measures.filter(measure=name)
    views = []
    for part in rows.partition_by("language_pair", maintain_order=True):
        pair = part["language_pair"][0]
        charts = [
            _ratings(part.to_dicts(), "standardised rating (z)" if name == "rating_z" else "rating"),
            *_people(run),
        ]
        views.append(View(pair or "All", charts, key={"language_pair": pair}))
    return views


def _ratings(rows: list[dict[str, Any]], unit: str) -> Chart:
    shown = points(rows, name=lambda row: row["system"])
    base = alt.Chart(data(shown)).encode(y=alt.Y("name:N", title=None, sort=[row["system"] for row in rows]))
    scale = alt.Scale(zero=False)
    rule = base.mark_rule(strokeWidth=2, color=NEUTRAL).encode(x=alt.X("low:Q", title=unit, scale=scale), x2="high")
    dot = base.mark_point(size=70, filled=True, opacity=1, color=PALETTE[0]).encode(
        x=alt.X("value:Q", title=unit, scale=scale),
        tooltip=tooltips(name="system", value=unit, low="95 % from", high="to"),
    )
    best = shown[0]
    description = f"Mean rating of each system with 95 % intervals; {best['name']} is highest with {best['value']:.2f}."
    chart = alt.layer(rule, dot).properties(height=lines(shown))
    return Chart("ratings", "Ratings of systems", description, chart)


def _people(run: Run) -> list[Chart]:
    rows = [row for row in run.table("annotators").to_dicts() if row["mean"] is not None and row["sd"] is not None]
    if len(rows) < 2:
        return []
    labels = {None: "cannot be tested", True: "passed", False: "failed"}
    shown = [
        {
            "name": row["annotator"],
            "mean": row["mean"],
            "spread": row["sd"],
            "verdict": labels[row["passed"]],
            "ratings": row["ratings"],
        }
        for row in rows
    ]
    domain = list(labels.values())
    colours = alt.Scale(domain=domain, range=[NEUTRAL, GOOD, BAD])
    legend = alt.Legend(orient="bottom", title="quality control")
    chart = (
        alt.Chart(data(shown))
        .mark_point(size=60, filled=True, opacity=0.8)
        .encode(
            x=alt.X("mean:Q", title="mean rating", scale=alt.Scale(domain=[0, 100])),
            y=alt.Y("spread:Q", title="standard deviation"),
            color=alt.Color("verdict:N", scale=colours, legend=legend),
            shape=alt.Shape("verdict:N", scale=alt.Scale(domain=domain), legend=legend),
            tooltip=tooltips(name="annotator", mean="mean", spread="spread", verdict="quality", ratings="ratings"),
        )
        .properties(height=HEIGHT)
    )
    description = f"Mean and spread of the ratings of {len(shown)} annotators, by quality control."
    return [Chart("annotators", "How annotators use the scale", description, chart)]


PAGE = Page(human_tables, human_views)
