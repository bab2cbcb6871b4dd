"""The QE study's page and charts: a profile of probes per model, and discrimination against Pearson's r."""

from typing import Any

import altair as alt
import regex

from babelquake.report.charts import HEIGHT, MEANINGS, Chart, View, colour, data, points, tooltips
from babelquake.report.judged_examples import EXAMPLES
from babelquake.report.page import Page
from babelquake.report.pitfalls import length_charts
from babelquake.report.qe.tables import meaning_of, probe_title, qe_tables
from babelquake.report.results import named, results_of, scorer_text, tested_text
from babelquake.runs.info import Probe
from babelquake.runs.results import Results, values
from babelquake.runs.run import Run

SHORT = regex.compile(r"\b(M[PA]P\d+)\b")
GROUPS = {"preserving": "meaning preserved (MPP)", "altering": "meaning altered (MAP)"}


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
    """Drop under each probe: a good model stands low on the left and high on the right."""
    charts = []
    rows = results.known("drop", language_pair=pair)
    scorers = values(rows, "scorer")
    known = list(probes)
    for scorer in scorers:
        bars = points(
            [row for row in rows if row["scorer"] == scorer],
            label=lambda row: probe_title(row["perturbation"], probes),
            short=lambda row: short(row["perturbation"], probes),
            meaning=lambda row: GROUPS.get(meaning_of(row["perturbation"], probes), "other"),
            place=lambda row: known.index(row["perturbation"]) if row["perturbation"] in probes else len(known),
            verdict=tested_text,
        )
        bars.sort(key=lambda bar: (bar["meaning"] != GROUPS["preserving"], bar["place"]))
        name = scorer_text(scorer, scorers)
        described = (
            f"How far the score of {name} falls under each probe, meaning-preserving ones left, meaning-altering ones "
            "right, with 95 % intervals; pale bars are not significant. Good models are low left, high right."
        )
        charts.append(Chart(f"profile-{scorer}", f"Probe profile: {name}", described, _profile(bars)))
    return charts


def _profile(bars: list[dict[str, Any]]) -> Any:
    present = [name for name in (*GROUPS.values(), "other") if any(bar["meaning"] == name for bar in bars)]
    colours = dict(zip((*GROUPS.values(), "other"), MEANINGS.values(), strict=True))
    base = alt.Chart(data(bars)).encode(
        x=alt.X(
            "short:N", title=None, sort=list(dict.fromkeys(bar["short"] for bar in bars)), axis=alt.Axis(labelAngle=-60)
        )
    )
    columns = base.mark_bar().encode(
        y=alt.Y("value:Q", title="drop of the score"),
        color=alt.Color(
            "meaning:N",
            title=None,
            legend=alt.Legend(orient="bottom", columns=1),
            scale=alt.Scale(domain=present, range=[colours[name] for name in present]),
        ),
        opacity=alt.condition("datum.verdict == 'significant'", alt.value(1), alt.value(0.45)),
        tooltip=tooltips(
            label="probe", meaning="meaning", value="drop", low="95 % from", high="to", verdict="after correction"
        ),
    )
    ends = base.mark_rule(strokeWidth=1.5, color="#8A8A8A").encode(y="low:Q", y2="high")
    return alt.layer(columns, ends).properties(height=HEIGHT)


def short(label: str, probes: dict[str, Probe]) -> str:
    """MPP1, MAP7 … where the probe's title says so."""
    found = SHORT.search(probe_title(label, probes))
    return str(found.group(1)) if found else label


def _ranking(results: Results, pair: str | None) -> list[Chart]:
    """Two models or more: one alone has no rank, and its point no axes."""
    rows = results.where("discrimination_standardised", language_pair=pair)
    name, known = named(rows), results.both("discrimination_standardised", "pearson", language_pair=pair)
    shown = [{"name": name(row), "discrimination": row["value"], "pearson": pearson} for row, pearson in known]
    if len(shown) < 2:
        return []
    base = alt.Chart(data(shown)).encode(
        x=alt.X("pearson:Q", title="Pearson's r with humans", scale=alt.Scale(zero=False, padding=24)),
        y=alt.Y("discrimination:Q", title="discrimination (MPP − MAP, in SD)", scale=alt.Scale(zero=False, padding=20)),
    )
    marks = base.mark_point(filled=True, size=110, opacity=1).encode(
        tooltip=tooltips(name="model", discrimination="MPP − MAP in SD of its scores", pearson="Pearson's r"),
        **colour("name", values(shown, "name"), "model"),
    )
    described = (
        "Each model's discrimination between harmful and harmless changes against its correlation with human scores; "
        "where the ranking without human labels works, the points rise from left to right (Kanojia 2021 Table 4)."
    )
    return [Chart("ranking", "Ranking without human labels", described, marks.properties(height=HEIGHT))]


PAGE = Page(qe_tables, qe_views, EXAMPLES, compared=("drop",))
