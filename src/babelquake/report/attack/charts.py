"""The attack study's charts: shares of eligible perturbations, the transfer heat map, metric beside human."""

from typing import Any

import altair as alt

from babelquake.report.charts import HEIGHT, Chart, View, colour, data, dots, lines, tooltips
from babelquake.report.results import Results, scorer_text, values
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
    victims = values(rows, "scorer")
    points = [
        {
            "name": scorer_text(row["scorer"], victims),
            "label": row["perturbation"],
            **{name: row[name] for name in ("value", "low", "high")},
        }
        for row in rows
    ]
    if not points:
        return []
    names = [scorer_text(victim, victims) for victim in victims]
    share = alt.Scale(domain=[0, 100])
    chart = dots(points, names, "victim", "% of sentences", share, label="recipe", value="% eligible")
    described = "The share of sentences with an eligible perturbation, per recipe and victim, with 95 % intervals."
    return [Chart("attack-success", "Eligible perturbations", described, chart)]


def _transfer(results: Results) -> list[Chart]:
    rows = results.known("transfer", perturbation=None)
    victims, others = values(rows, "scorer"), values(rows, "other")
    if not rows:
        return []
    cells = [
        {
            "name": scorer_text(row["scorer"], victims),
            "label": scorer_text(row["other"], others),
            "value": row["value"],
            "shown": f"{row['value']:.0f}",
            "n": row["n"],
        }
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
    chart = alt.layer(squares, numbers).properties(height=CELL * len(victims))
    return [Chart("attack-transfer", "Transfer", described, chart)]


def _degradation(results: Results) -> list[Chart]:
    """Figure 5: what the metric takes off, beside what people do."""
    points: list[dict[str, Any]] = []
    rows = results.where("degradation")
    victims = values(rows, "scorer")
    for row in rows:
        human = results.beside(row, "degradation_human")
        if human is None:
            continue
        about = " · ".join(filter(None, [scorer_text(row["scorer"], victims), row["perturbation"], row["group"]]))
        points += [
            {"label": about, "name": "metric", "value": row["value"]},
            {"label": about, "name": "people", "value": human["value"]},
        ]
    if not points:
        return []
    chart = (
        alt.Chart(data(points))
        .mark_point(filled=True, size=90, opacity=1)
        .encode(
            x=alt.X("value:Q", title="median degradation (standard deviations)"),
            y=alt.Y("label:N", title=None, sort=values(points, "label"), axis=alt.Axis(labelLimit=320)),
            tooltip=tooltips(label="cell", name="judged by", value="median degradation"),
            **colour("name", ["metric", "people"], "judged by"),
        )
    )
    described = (
        "Median degradation of perturbed translations as the metric and as people judge it (Huang 2023 Figure 5)."
    )
    height = max(HEIGHT, lines(values(points, "label")))
    return [Chart("attack-degradation", "Metric and people", described, chart.properties(height=height), wide=True)]
