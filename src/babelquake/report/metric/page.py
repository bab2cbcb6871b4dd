"""The metric study's page and charts: sensitivity, agreement with humans by noise level, challenge sets."""

from typing import Any

import altair as alt

from babelquake.report.charts import (
    MEANINGS,
    Chart,
    View,
    curves,
    data,
    dots,
    lines,
    points,
    sweeps,
    tooltips,
    where_known,
)
from babelquake.report.judged_examples import EXAMPLES
from babelquake.report.metric.layers import layer_charts
from babelquake.report.metric.tables import group_text, metric_tables
from babelquake.report.page import Page
from babelquake.report.phrases import row_label
from babelquake.report.pitfalls import length_charts
from babelquake.report.results import named, results_of, scorer_text, statistic_text, tested_text
from babelquake.runs.results import STATISTICS, Results, values
from babelquake.runs.run import Run

UNKNOWN = {"unknown_tokens": "unknown tokens per segment", "unk_share": "% unknown tokens"}


def metric_views(run: Run) -> list[View]:
    """One view per language pair; the average over pairs first."""
    results = results_of(run)
    measures = ("delta", *STATISTICS, *UNKNOWN, "detection_accuracy", "best_of")
    pairs = sorted(values(results.where(*measures), "language_pair"), key=lambda pair: pair != "average")
    meaning = run.info.facts.meaning
    return [
        View(
            pair or "all",
            [
                *length_charts(results, pair),
                *_best_of(results, pair),
                *_forests(results, pair, meaning),
                *_agreement(results, pair),
                *layer_charts(results, pair),
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
    rows = results.known("delta", language_pair=pair)
    scorers, label = values(rows, "scorer"), row_label(rows)
    for scorer in scorers:
        shown = points(
            sorted((row for row in rows if row["scorer"] == scorer), key=lambda row: float(row["value"])),
            label=label,
            meaning=lambda row: meaning.get(row["perturbation"], "depends"),
            verdict=tested_text,
        )
        name = scorer_text(scorer, scorers)
        title = f"How {name} moves"
        described = (
            f"Change of {name} under every perturbation with its 95 % interval; filled marks are significant after "
            "correction; blue changes are harmless, vermilion ones harmful."
        )
        charts.append(Chart(f"forest-{scorer}", title, described, forest(shown, f"Δ {name} (perturbed − clean)")))
    return charts


def forest(shown: list[dict[str, Any]], title: str) -> Any:
    """A forest plot: one line per change, coloured by what it does to the meaning."""
    present = [name for name in MEANINGS if any(point["meaning"] == name for point in shown)]
    legend = alt.Legend(orient="bottom", title="meaning")
    order = values(shown, "label")
    base = alt.Chart(data(shown)).encode(
        y=alt.Y("label:N", title=None, sort=order, axis=alt.Axis(labelLimit=200)),
        color=alt.Color(
            "meaning:N", scale=alt.Scale(domain=present, range=[MEANINGS[name] for name in present]), legend=legend
        ),
    )
    zero = alt.Chart(data([{"zero": 0}])).mark_rule(strokeDash=[3, 3], color="#8A8A8A").encode(x="zero:Q")
    bars = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=title), x2="high")
    shape = alt.Shape(
        "meaning:N",
        legend=legend,
        scale=alt.Scale(domain=present, range=["circle", "triangle-up", "square"][: len(present)]),
    )
    tips = tooltips(label="perturbation", meaning="meaning", value="Δ", low="95 % from", high="to", verdict="corrected")
    marks = [
        base.transform_filter(f"datum.verdict == '{said}'")
        .mark_point(size=80, strokeWidth=2, filled=filled, opacity=1)
        .encode(x=alt.X("value:Q", title=title), shape=shape, tooltip=tips)
        for said, filled in (("significant", True), ("not significant", False))
        if any(point["verdict"] == said for point in shown)
    ]
    return alt.layer(zero, *where_known(shown, bars), *marks).properties(height=lines(shown))


def _agreement(results: Results, pair: str | None) -> list[Chart]:
    charts = []
    for measure in STATISTICS:
        rows = results.known(measure, language_pair=pair)
        name = statistic_text(measure)
        title = f"Agreement with humans: {name}"
        described = f"{title}, of each scorer over levels of {{}}, with 95 % intervals; level 0 is clean."
        charts += sweeps(rows, "scorer", f"agree-{measure}", title, name, described)
    return charts


def _unknown(results: Results, pair: str | None) -> list[Chart]:
    charts = []
    for measure, name in UNKNOWN.items():
        rows = results.known(measure, language_pair=pair)
        title = name.capitalize()
        described = f"{title}, of each tokenizer over levels of {{}}, with 95 % intervals; level 0 is clean."
        charts += sweeps(rows, "tokenizer", measure, title, name, described)
    return charts


def _best_of(results: Results, pair: str | None) -> list[Chart]:
    """The over-optimisation curve: what each judge says of the best of n by one scorer."""
    charts = []
    rows = results.known("best_of", language_pair=pair)
    for group in values(rows, "group"):
        here = [row for row in rows if row["group"] == group]
        names = values(here, "other")
        judged_by = named(here, "other")
        for picker in values(here, "scorer"):
            mine = [row for row in here if row["scorer"] == picker]
            drawn = points(mine, name=judged_by, level=lambda row: row["level"])
            shown = list(dict.fromkeys(point["name"] for point in drawn))
            title = f"Best of n by {scorer_text(picker, names)}" + (f": {group}" if group else "")
            described = (
                f"{title}: what each judge says of the pick as the number of candidates grows, in standard deviations "
                "of its scores, against a random pick, with 95 % intervals."
            )
            chart = curves(drawn, shown, "judged by", "candidates", "gain (sd)")
            charts.append(Chart(f"best-of-{picker}-{group or 'all'}", title, described, chart))
    return charts


def _challenge(results: Results, pair: str | None) -> list[Chart]:
    """Detection accuracy per phenomenon; 50 % is what a coin would find."""
    rows = results.known("detection_accuracy", language_pair=pair)
    if not rows:
        return []
    shown = points(rows, label=group_text, name=named(rows))
    title = "% of damaged translations detected"
    chart = dots(shown, values(shown, "name"), "scorer", title, alt.Scale(zero=False), label="phenomenon", value="%")
    described = "Share of damaged translations that each scorer puts below the original, per phenomenon."
    return [Chart("detection", "Which errors are noticed", described, chart, wide=True)]


PAGE = Page(metric_tables, metric_views, EXAMPLES, compared=("delta", "darr", "kendall_like"))
