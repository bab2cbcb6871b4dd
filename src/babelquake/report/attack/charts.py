"""The attack study's charts: shares of eligible perturbations, the transfer heat map, metric beside human."""

from typing import Any

import altair as alt

from babelquake.report.charts import HEIGHT, Chart, View, colour, data, dots, lines, points, tooltips
from babelquake.report.results import Results, named, values
from babelquake.runs.run import Run

CELL = 46
"""Height of one line of the heat map."""


def attack_views(run: Run) -> list[View]:
    """One view: everything there is."""
    results = Results.of(run)
    charts = [*_shares(results), *_transfer(results), *_degradation(results)]
    return [View("all", charts)] if charts else []


def _shares(results: Results) -> list[Chart]:
    rows = results.known("success", group=None)
    if not rows:
        return []
    shown = points(rows, name=named(rows), label=lambda row: row["perturbation"])
    share = alt.Scale(domain=[0, 100])
    chart = dots(shown, values(shown, "name"), "victim", "% of sentences", share, label="recipe", value="% eligible")
    described = "The share of sentences with an eligible perturbation, per recipe and victim, with 95 % intervals."
    return [Chart("attack-success", "Eligible perturbations", described, chart)]


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
        color=alt.Color("value:Q", title="% fooled", scale=alt.Scale(scheme="cividis", domain=[0, 100])),
        tooltip=tooltips(name="found against", label="judged by", value="% that meet the goal", n="perturbations"),
    )
    numbers = base.mark_text(fontSize=13).encode(
        text="shown:N", color=alt.condition("datum.value > 60", alt.value("black"), alt.value("white"))
    )
    described = (
        "Of the perturbations found against the metric of a line, the share that meets the goal under the metric of a "
        "column, each on its own scale."
    )
    chart = alt.layer(squares, numbers).properties(height=CELL * len(values(cells, "name")))
    return [Chart("attack-transfer", "Transfer", described, chart)]


def _degradation(results: Results) -> list[Chart]:
    """Figure 5: what the metric takes off, beside what people do."""
    shown: list[dict[str, Any]] = []
    rows = results.where("degradation")
    victim = named(rows)
    for row in rows:
        if (human := results.beside(row, "degradation_human")) is not None:
            about = " · ".join(filter(None, [victim(row), row["perturbation"], row["group"]]))
            shown += [
                {"label": about, "name": who, "value": one["value"]}
                for who, one in (("metric", row), ("people", human))
            ]
    if not shown:
        return []
    chart = (
        alt.Chart(data(shown))
        .mark_point(filled=True, size=90, opacity=1)
        .encode(
            x=alt.X("value:Q", title="median degradation (standard deviations)"),
            y=alt.Y("label:N", title=None, sort=values(shown, "label"), axis=alt.Axis(labelLimit=320)),
            tooltip=tooltips(label="cell", name="judged by", value="median degradation"),
            **colour("name", ["metric", "people"], "judged by"),
        )
    )
    described = (
        "Median degradation of perturbed translations as the metric and as people judge it (Huang 2023 Figure 5)."
    )
    height = max(HEIGHT, lines(values(shown, "label")))
    return [Chart("attack-degradation", "Metric and people", described, chart.properties(height=height), wide=True)]
