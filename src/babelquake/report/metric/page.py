"""The metric study's page and charts: sensitivity, agreement with humans by noise level, challenge sets."""

import altair as alt

from babelquake.report.charts import HARM, Chart, View, curves, dots, forest, points, sweeps
from babelquake.report.judged_examples import EXAMPLES
from babelquake.report.metric.layers import layer_charts
from babelquake.report.metric.tables import group_text, metric_tables
from babelquake.report.page import Page
from babelquake.report.phrases import row_label
from babelquake.report.pitfalls import length_charts, pitfall_chart
from babelquake.report.remedies import about_scorers
from babelquake.report.results import named, results_of, scorer_text, statistic_text, tested_text
from babelquake.report.verdict import sentence_case
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
            label=lambda row: sentence_case(label(row)),
            meaning=lambda row: HARM[meaning.get(row["perturbation"], "depends")],
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


def metric_lead(run: Run) -> Chart | None:
    """Pitfalls where the run looked for them; else the first chart there is."""
    card = pitfall_chart(run)
    return card or next((chart for view in metric_views(run)[:1] for chart in view.charts if chart.on_page), None)


PAGE = Page(
    metric_tables,
    metric_views,
    EXAMPLES,
    lead=metric_lead,
    compared=("delta", "darr", "kendall_like"),
    advice=about_scorers,
)
