"""The metric study's charts: forest plots of sensitivity, agreement with humans by noise level, challenge sets."""

from typing import Any

import altair as alt

from babelquake.report.charts import MEANINGS, Chart, View, colour, curves, data, lines, tooltips
from babelquake.report.metric.tables import group_text
from babelquake.report.phrases import card_of, with_level
from babelquake.report.results import (
    STATISTICS,
    Results,
    Row,
    is_significant,
    scorer_text,
    statistic_text,
    values,
)
from babelquake.runs.run import Run

UNKNOWN = {"unknown_tokens": "unknown tokens per segment", "unk_share": "% unknown tokens"}


def metric_views(run: Run) -> list[View]:
    """One view per language pair; the average over pairs first."""
    results = Results.of(run)
    measures = ("delta", *STATISTICS, *UNKNOWN, "detection_accuracy")
    pairs = sorted(values(results.where(*measures), "language_pair"), key=lambda pair: pair != "average")
    meaning = run.info.facts.meaning
    return [
        View(
            pair or "all",
            [
                *_forests(results, pair, meaning),
                *_agreement(results, pair),
                *_unknown(results, pair),
                *_challenge(results, pair),
            ],
            key={"language_pair": pair},
        )
        for pair in pairs
    ]


def _forests(results: Results, pair: str | None, meaning: dict[str, str]) -> list[Chart]:
    """Δ of every perturbation with its interval; filled where significant."""
    charts = []
    rows = [row for row in results.where("delta", language_pair=pair) if row["value"] is not None]
    scorers = values(rows, "scorer")
    for scorer in scorers:
        points = [
            {
                "change": with_level(row["perturbation"], row["level"]),
                "meaning": meaning.get(row["perturbation"], "depends"),
                "verdict": "significant" if is_significant(row) else "not significant",
                **{name: row[name] for name in ("value", "low", "high")},
            }
            for row in rows
            if row["scorer"] == scorer
        ]
        name = scorer_text(scorer, scorers)
        title = f"How {name} moves"
        described = (
            f"Change of {name} under every perturbation with its 95 % interval; filled marks are significant after "
            "correction; blue changes are harmless, vermilion ones harmful."
        )
        charts.append(Chart(f"forest-{scorer}", title, described, forest(points, f"Δ {name} (perturbed − clean)")))
    return charts


def forest(points: list[dict[str, Any]], title: str) -> Any:
    """A forest plot: one line per change, coloured by what it does to the meaning."""
    present = [name for name in MEANINGS if any(point["meaning"] == name for point in points)]
    legend = alt.Legend(orient="bottom", title="meaning")
    order = list(dict.fromkeys(point["change"] for point in points))
    base = alt.Chart(data(points)).encode(
        y=alt.Y("change", type="nominal", title=None, sort=order, axis=alt.Axis(labelLimit=200)),
        color=alt.Color(
            "meaning",
            type="nominal",
            scale=alt.Scale(domain=present, range=[MEANINGS[name] for name in present]),
            legend=legend,
        ),
    )
    zero = alt.Chart(data([{"zero": 0}])).mark_rule(strokeDash=[3, 3], color="#8A8A8A").encode(x="zero:Q")
    bars = base.mark_rule(strokeWidth=2).encode(x=alt.X("low", type="quantitative", title=title), x2="high")
    shape = alt.Shape(
        "meaning",
        type="nominal",
        legend=legend,
        scale=alt.Scale(domain=present, range=["circle", "triangle-up", "square"][: len(present)]),
    )
    tips = tooltips(
        change="perturbation", meaning="meaning", value="Δ", low="95 % from", high="to", verdict="corrected"
    )
    marks = [
        base.transform_filter(f"datum.verdict == '{said}'")
        .mark_point(size=80, strokeWidth=2, filled=filled, opacity=1)
        .encode(x=alt.X("value", type="quantitative", title=title), shape=shape, tooltip=tips)
        for said, filled in (("significant", True), ("not significant", False))
        if any(point["verdict"] == said for point in points)
    ]
    return alt.layer(zero, bars, *marks).properties(height=lines(points))


def _agreement(results: Results, pair: str | None) -> list[Chart]:
    charts = []
    for measure in STATISTICS:
        rows = [row for row in results.where(measure, language_pair=pair) if row["value"] is not None]
        name = statistic_text(measure)
        charts += _level_curves(rows, f"agree-{measure}", f"Agreement with humans: {name}", name, "scorer")
    return charts


def _unknown(results: Results, pair: str | None) -> list[Chart]:
    charts = []
    for measure, name in UNKNOWN.items():
        rows = [row for row in results.where(measure, language_pair=pair) if row["value"] is not None]
        charts += _level_curves(rows, measure, name.capitalize(), name, "tokenizer")
    return charts


def _level_curves(rows: list[Row], label: str, title: str, y: str, who: str) -> list[Chart]:
    charts = []
    names = values(rows, who)
    for change in values(rows, "perturbation"):
        here = [row for row in rows if row["perturbation"] == change and row["level"] is not None]
        if len({row["level"] for row in here}) < 2:
            continue
        card = card_of(change)
        points = [
            {
                "name": scorer_text(row[who], names),
                **{key: row[key] for key in ("level", "value", "low", "high")},
            }
            for row in here
        ]
        chart = curves(
            points, [scorer_text(name, names) for name in names], who, card.unit if card and card.unit else "level", y
        )
        described = f"{title}, of each {who} over levels of {change}, with 95 % intervals; level 0 is clean."
        charts.append(Chart(f"{label}-{change}", f"{title} under {change}", described, chart))
    return charts


def _challenge(results: Results, pair: str | None) -> list[Chart]:
    """Detection accuracy per phenomenon; 50 % is what a coin would find."""
    rows = [row for row in results.where("detection_accuracy", language_pair=pair) if row["value"] is not None]
    if not rows:
        return []
    scorers = values(rows, "scorer")
    points = [
        {
            "change": group_text(row),
            "name": scorer_text(row["scorer"], scorers),
            **{key: row[key] for key in ("value", "low", "high")},
        }
        for row in rows
    ]
    names = [scorer_text(scorer, scorers) for scorer in scorers]
    base = alt.Chart(data(points)).encode(
        y=alt.Y("change", type="nominal", title=None, sort=None, axis=alt.Axis(labelLimit=200)),
        yOffset=alt.YOffset("name", type="nominal", sort=names),
    )
    scales = colour("name", names, "scorer")
    bars = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low", type="quantitative", title="% of damaged translations detected", scale=alt.Scale(zero=False)),
        x2="high",
        color=scales["color"],
    )
    marks = base.mark_point(filled=True, size=60, opacity=1).encode(
        x=alt.X("value", type="quantitative"),
        tooltip=tooltips(change="phenomenon", name="scorer", value="%", low="95 % from", high="to"),
        **scales,
    )
    height = lines(values(points, "change")) * max(1, (len(names) + 1) // 2)
    chart = alt.layer(bars, marks).properties(height=height)
    described = "Share of damaged translations that each scorer puts below the original, per phenomenon."
    return [Chart("detection", "Which errors are noticed", described, chart, wide=True)]
