"""The MT study's charts: Niu 2020 Figures 1 and 2, the heat map of systems × perturbations, and failures."""

from typing import Any

import altair as alt

from babelquake.failures.base import description_of
from babelquake.perturb.labels import label_of
from babelquake.report.charts import HEIGHT, Chart, View, colour, data, dots, lines, points, sweeps, tooltips
from babelquake.report.mt.tables import floors
from babelquake.report.phrases import labelled, row_label
from babelquake.report.results import base_name, results_of, scorer_text
from babelquake.report.verdict import sentence_case
from babelquake.runs.results import Results, Row, distinct, is_significant, values
from babelquake.runs.run import Run
from babelquake.studies.cells import LEAST_CHANGED
from babelquake.studies.mt import kinds

MEASURES = {kind.name: kind.column for kind in (kinds.ROBUST, kinds.CONSIS, kinds.INCONSISTENT)}
EXPLAINED = {
    "robust": "Quality under the perturbation in per cent of the quality without it; 100 is untouched.",
    "consis": "Agreement of the translations with those of the clean source; 100 is the same.",
    "inconsistent": "Share of translations that differ clearly from that of the clean source.",
}
"""What the figures of the heat map are."""
KIND_COLOURS = ("#D55E00", "#7B4B94", "#E69F00", "#CC79A7", "#0072B2", "#009E73", "#B5A000", "#56B4E9", "#5C4033")
"""Of the commonest kinds of failure; further ones are not drawn."""


def mt_views(run: Run) -> list[View]:
    """One view per language pair and scorer."""
    everything = results_of(run)
    results = everything.whole
    views = []
    rows = results.where("consis")
    pairs, scorers = values(rows, "language_pair"), values(rows, "scorer")
    spoken_of_first = sorted(distinct(rows, "language_pair", "scorer"), key=lambda view: base_name(view[1]) != "bleu")
    for pair, scorer in spoken_of_first:
        name = scorer_text(scorer, scorers)
        label = f"{name} · {pair}" if pair and len(pairs) > 1 else name
        heat = _heat(results, pair, scorer)
        charts = [
            *_heat_charts(heat, name),
            *_sweeps(results, pair, scorer),
            *_scatter(results, pair, scorer),
            *_parts(everything, pair, scorer, name),
            *_failures(results, pair),
        ]
        views.append(View(label, charts, heat, {"language_pair": pair, "scorer": scorer}))
    return views


def mt_lead(run: Run) -> Chart | None:
    """Quality under each kind of noise by the scorer of the headline, the most damaging first; clean quality beside."""
    results = results_of(run)
    rows = [row for row in results.known("quality_perturbed", group=None) if row["level"] != 0]
    if not rows:
        return None
    scorer, pair = rows[0]["scorer"], rows[0]["language_pair"]
    here = [row for row in rows if row["scorer"] == scorer and row["language_pair"] == pair]
    large = [row for row in here if row["changed"] is None or row["changed"] >= LEAST_CHANGED]
    left_out = len(distinct(here, "perturbation", "level")) - len(distinct(large, "perturbation", "level"))
    if not large:
        return None
    lost = {place: _mean_loss(results, large, place) for place in distinct(large, "perturbation", "level")}
    large.sort(key=lambda row: lost[row["perturbation"], row["level"]])
    label, name = row_label(large), scorer_text(scorer, values(rows, "scorer"))
    systems = values(large, "system")
    shown = points(
        large,
        name=lambda row: row["system"],
        label=lambda row: sentence_case(label(row)),
        typed=lambda row: row["perturbation"],
    )
    scale = alt.Scale(zero=False, nice=True)
    drawn = dots(
        shown, systems, "system", f"{name} of noisy text", scale, room=300, label="noise", typed="typed as", value=name
    )
    clean = [
        {"name": row["system"], "value": row["value"]}
        for row in results.known("clean_quality", language_pair=pair, scorer=scorer)
    ]
    if clean:
        rule = alt.Chart(data(clean)).mark_rule(strokeDash=[4, 3], strokeWidth=1.5, opacity=0.8)
        scales = colour("name", systems, "system")
        drawn = alt.layer(rule.encode(x=alt.X("value:Q", scale=scale), color=scales["color"]), drawn)
    drawn = drawn.properties(height=len(lost) * (9 * len(systems) + 8))
    few = f" {left_out} kind{'s' if left_out > 1 else ''} with fewer than {LEAST_CHANGED} changed sentences not shown."
    parts = [f"Worst first, with 95 % intervals; dashed: clean text.{few if left_out else ''}"]
    described = " ".join([*parts, *floors(results, pair, list(lost))])
    return Chart("lead", f"Quality under each kind of noise ({name})", described, drawn)


def _mean_loss(results: Results, rows: list[Row], place: tuple[str, float | None]) -> float:
    here = [results.beside(row, "delta") for row in rows if (row["perturbation"], row["level"]) == place]
    known = [row["value"] for row in here if row is not None and row["value"] is not None]
    return sum(known) / len(known) if known else 0.0


def _heat(results: Results, pair: str | None, scorer: str) -> dict[str, Any]:
    """Per measure the rows of the heat map: perturbation × system → value, interval, significance."""
    cells = results.where("consis", language_pair=pair, scorer=scorer)
    systems = values(cells, "system")
    found: dict[str, list[list[Any]]] = {}
    perturbations = distinct(cells, "perturbation", "level")
    for measure in MEASURES:
        here = {"language_pair": pair, "scorer": "chrf" if measure == "inconsistent" else scorer}
        table = [
            [
                _heat_cell(results.one(measure, **here, system=system, perturbation=perturbation, level=level))
                for system in systems
            ]
            for perturbation, level in perturbations
        ]
        if any(cell for row in table for cell in row):
            found[measure] = table
    return {
        "systems": systems,
        "perturbations": [labelled(values(cells, "perturbation"))(*place) for place in perturbations],
        "measures": found,
        "named": {measure: [MEASURES[measure], EXPLAINED[measure]] for measure in found},
    }


def _heat_cell(row: Row | None) -> list[Any] | None:
    if row is None or row["value"] is None:
        return None
    numbers = [None if row[name] is None else round(row[name], 2) for name in ("value", "low", "high")]
    return [*numbers, int(is_significant(row)), row["n"]]


def _heat_charts(heat: dict[str, Any], scorer: str) -> list[Chart]:
    """The heat map as a picture, for papers; the page shows it as a table that can be clicked and read aloud."""
    charts = []
    for measure, table in heat["measures"].items():
        rows = [
            {"label": perturbation, "name": system, "value": cell[0]}
            for perturbation, line in zip(heat["perturbations"], table, strict=True)
            for system, cell in zip(heat["systems"], line, strict=True)
            if cell
        ]
        worse_up = measure == "inconsistent"
        base = alt.Chart(data(rows)).encode(
            x=alt.X("name:N", title=None, sort=None, axis=alt.Axis(orient="top", labelAngle=-20)),
            y=alt.Y("label:N", title=None, sort=None),
        )
        scale = alt.Scale(scheme="oranges", reverse=not worse_up)
        tile = base.mark_rect().encode(color=alt.Color("value:Q", scale=scale, title=MEASURES[measure]))
        text = base.mark_text().encode(text=alt.Text("value:Q", format=".1f"))
        described = f"{MEASURES[measure]} of every system under every perturbation."
        charts.append(
            Chart(
                f"heat-{measure}",
                f"{MEASURES[measure]} ({scorer})",
                described,
                (tile + text).properties(height=lines(heat["perturbations"])),
                on_page=False,
            )
        )
    return charts


def _sweeps(results: Results, pair: str | None, scorer: str) -> list[Chart]:
    """Noise-level curves, Figure 2, for every perturbation that was run at several levels."""
    charts = []
    for measure in ("robust", "consis"):
        rows, name = results.known(measure, language_pair=pair, scorer=scorer), MEASURES[measure]
        described = f"{name} of each system over levels of {{}}, with 95 % intervals (Niu 2020 Figure 2)."
        charts += sweeps(rows, "system", f"sweep-{measure}", name, name, described)
    return charts


def _parts(results: Results, pair: str | None, scorer: str, name: str) -> list[Chart]:
    """Where a system is weak: systems × parts of the data, one map per perturbation."""
    measure = next((one for one in ("robust", "consis") if results.known(one, language_pair=pair, scorer=scorer)), None)
    if measure is None:
        return []
    rows = [row for row in results.known(measure, language_pair=pair, scorer=scorer) if row["group"] is not None]
    charts = []
    for perturbation, level in distinct(rows, "perturbation", "level"):
        tiles = [
            {"label": row["group"], "name": row["system"], "value": row["value"], "n": row["n"]}
            for row in rows
            if (row["perturbation"], row["level"]) == (perturbation, level)
        ]
        shown, called = values(tiles, "label"), label_of(perturbation, level)
        base = alt.Chart(data(tiles)).encode(
            x=alt.X("name:N", title=None, sort=None, axis=alt.Axis(orient="top", labelAngle=-40)),
            y=alt.Y("label:N", title=None, sort=None, axis=alt.Axis(labelLimit=220)),
            tooltip=tooltips(label="part", name="system", value=MEASURES[measure], n="segments"),
        )
        scale = alt.Scale(scheme="oranges", reverse=True)
        tile = base.mark_rect().encode(color=alt.Color("value:Q", scale=scale, title=MEASURES[measure]))
        text = base.mark_text(fontSize=9).encode(text=alt.Text("value:Q", format=".0f"))
        described = f"{MEASURES[measure]} by {name} of every system on every part of the data, under {called}."
        chart = (tile + text).properties(height=lines(shown))
        charts.append(Chart(f"parts-{called}", f"Where systems are weak: {called}", described, chart))
    return charts


def _scatter(results: Results, pair: str | None, scorer: str) -> list[Chart]:
    """ROBUST against CONSIS, Figure 1."""
    both = results.both("robust", "consis", language_pair=pair, scorer=scorer)
    label = row_label(row for row, _ in both)
    points = [
        {"name": row["system"], "label": label(row), "robust": row["value"], "consis": consis} for row, consis in both
    ]
    if len(points) < 3:
        return []
    found = results.one("robust_consis_correlation", language_pair=pair, scorer=scorer)
    r = f", r = {found['value']:.2f}" if found and found["value"] is not None else ""
    chart = (
        alt.Chart(data(points))
        .mark_point(size=70, filled=True, opacity=0.85)
        .encode(
            x=alt.X("robust:Q", title="ROBUST", scale=alt.Scale(zero=False)),
            y=alt.Y("consis:Q", title="CONSIS", scale=alt.Scale(zero=False)),
            tooltip=tooltips(name="system", label="perturbation", robust="ROBUST", consis="CONSIS"),
            **colour("name", values(points, "name"), "system"),
        )
        .properties(height=HEIGHT)
    )
    described = f"Each point is a system under one perturbation: ROBUST across, CONSIS up{r} (Niu 2020 Figure 1)."
    return [Chart("robust-consis", "ROBUST against CONSIS", described, chart)]


def _failures(results: Results, pair: str | None) -> list[Chart]:
    """What breaks under noise: rates of the commonest kinds of failure, one chart per system."""
    rows = [
        row
        for row in results.known("failures", language_pair=pair)
        if row["perturbation"] and row["scorer"] != "any" and row["value"]
    ]
    totals = {kind: sum(row["value"] for row in rows if row["scorer"] == kind) for kind in values(rows, "scorer")}
    kinds = sorted(totals, key=lambda kind: -totals[kind])[: len(KIND_COLOURS)]
    rows = [row for row in rows if row["scorer"] in kinds]
    charts: list[Chart] = []
    label = row_label(rows)
    for system in values(rows, "system"):
        bars = [
            {
                "label": label(row),
                "kind": row["scorer"],
                "value": row["value"],
                "place": kinds.index(row["scorer"]),
            }
            for row in rows
            if row["system"] == system
        ]
        perturbations = values(bars, "label")
        chart = (
            alt.Chart(data(bars))
            .mark_bar()
            .encode(
                x=alt.X("value:Q", title="% of translations", stack="zero"),
                y=alt.Y("label:N", title=None, sort=perturbations, axis=alt.Axis(labelLimit=200)),
                color=alt.Color(
                    "kind:N",
                    title=None,
                    legend=alt.Legend(orient="bottom", columns=3, labelLimit=120),
                    scale=alt.Scale(domain=kinds, range=list(KIND_COLOURS[: len(kinds)])),
                ),
                order=alt.Order("place:Q"),
                tooltip=tooltips(label="perturbation", kind="kind", value="% of translations"),
            )
            .properties(height=lines(perturbations))
        )
        described = f"Translations of {system} with each kind of failure; one translation may have several."
        if not charts:
            described += f" {' '.join(f'{kind}: {description_of(kind)}' for kind in kinds)}"
        charts.append(Chart(f"failures-{system}", f"Failures: {system}", described, chart))
    return charts
