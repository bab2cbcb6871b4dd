"""The QE study's page and charts: what each model notices, and whether that ranks models as people do."""

import altair as alt

from babelquake.report.charts import HARM, HEIGHT, NEUTRAL, Chart, View, colour, data, dots, forest, points, tooltips
from babelquake.report.judged_examples import EXAMPLES
from babelquake.report.page import Page
from babelquake.report.phrases import row_label
from babelquake.report.pitfalls import length_charts, pitfall_chart
from babelquake.report.qe.tables import meaning_of, qe_tables
from babelquake.report.remedies import about_scorers
from babelquake.report.results import named, results_of, scorer_text, tested_text
from babelquake.report.verdict import sentence_case
from babelquake.runs.info import Probe
from babelquake.runs.results import Results, values
from babelquake.runs.run import Run


def qe_views(run: Run) -> list[View]:
    """One view per language pair."""
    results = results_of(run).whole
    probes = run.info.facts.probes
    pairs = values(results.where("drop", "discrimination"), "language_pair")
    return [
        View(
            pair or "all",
            [*length_charts(results, pair), *_ranking(results, pair), *_profiles(results, pair, probes)],
            key={"language_pair": pair},
        )
        for pair in pairs
    ]


def _profiles(results: Results, pair: str | None, probes: dict[str, Probe]) -> list[Chart]:
    """What each probe costs: harmless ones should stand left, harmful ones right."""
    rows = results.known("drop", language_pair=pair)
    scorers, label = values(rows, "scorer"), row_label(rows)
    charts = []
    for scorer in scorers:
        mine = sorted((row for row in rows if row["scorer"] == scorer), key=lambda row: -float(row["value"]))
        shown = points(
            mine,
            label=lambda row: sentence_case(label(row)),
            meaning=lambda row: HARM[meaning_of(row["perturbation"], probes) or "depends"],
            verdict=tested_text,
        )
        name = scorer_text(scorer, scorers)
        described = (
            f"How far the score of {name} falls under each change, with 95 % intervals; filled marks are significant. "
            "A good estimator has harmful changes on the right and harmless ones at 0."
        )
        charts.append(Chart(f"profile-{scorer}", f"What {name} notices", described, forest(shown, "score lost")))
    return charts


def qe_lead(run: Run) -> Chart | None:
    """Several models: how well each tells harmful from harmless changes; one: what each change costs it."""
    card = pitfall_chart(run)
    results = results_of(run).whole
    if card is not None:
        return card
    rows = results.known("discrimination_standardised")
    pairs = values(rows, "language_pair")
    rows = (
        sorted((row for row in rows if row["language_pair"] == pairs[0]), key=lambda row: -float(row["value"]))
        if pairs
        else []
    )
    if len(rows) < 2:
        return next(
            (chart for view in qe_views(run)[:1] for chart in view.charts if chart.name.startswith("profile")), None
        )
    shown = points(rows, label=named(rows), name=lambda row: "")
    title = "standard deviations by which harmful changes score lower"
    zero = alt.Chart(data([{"zero": 0}])).mark_rule(strokeDash=[4, 3], color=NEUTRAL).encode(x="zero:Q")
    marks = dots(shown, [""], "model", title, alt.Scale(zero=True), room=260, label="model", value="harmless − harmful")
    described = "Further right is better, with 95 % intervals; at 0 (dashed) a model does not tell them apart."
    chart = alt.layer(zero, marks).properties(height=max(90, 34 * len(rows)))
    return Chart("discrimination", "Who tells harmful from harmless changes", described, chart)


def _ranking(results: Results, pair: str | None) -> list[Chart]:
    """Two models or more: one alone has no rank, and its point no axes."""
    rows = results.where("discrimination_standardised", language_pair=pair)
    name, known = named(rows), results.both("discrimination_standardised", "pearson", language_pair=pair)
    shown = [{"name": name(row), "discrimination": row["value"], "pearson": pearson} for row, pearson in known]
    if len(shown) < 2:
        return []
    base = alt.Chart(data(shown)).encode(
        x=alt.X("pearson:Q", title="Pearson's r with humans", scale=alt.Scale(zero=False, padding=24)),
        y=alt.Y("discrimination:Q", title="tells harmful from harmless (sd)", scale=alt.Scale(zero=False, padding=20)),
    )
    marks = base.mark_point(filled=True, size=110, opacity=1).encode(
        tooltip=tooltips(name="model", discrimination="harmless − harmful, in sd of its scores", pearson="Pearson's r"),
        **colour("name", values(shown, "name"), "model"),
    )
    described = (
        "Each model's discrimination between harmful and harmless changes against its correlation with human scores; "
        "where the ranking without human labels works, the points rise from left to right (Kanojia 2021 Table 4)."
    )
    return [Chart("ranking", "Ranking without human labels", described, marks.properties(height=HEIGHT))]


PAGE = Page(qe_tables, qe_views, EXAMPLES, lead=qe_lead, compared=("drop",), advice=about_scorers)
