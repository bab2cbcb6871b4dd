"""Agreement with humans by the layer that vectors are taken from, per encoder (Vu 2022, Figure 3)."""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import altair as alt

from babelquake.errors import UserError
from babelquake.report.charts import DASHES, Chart, colour, data, points, tooltips
from babelquake.report.phrases import row_label
from babelquake.report.results import base_name, scorer_text, statistic_text
from babelquake.report.table import Table, crossed, digits, of, text
from babelquake.runs.results import STATISTICS, Results, Row, values
from babelquake.spec import Spec, parse

WORDS = ("first", "best", "last", "mean", "mean-embeddings")
"""Layers that are called by a word, in the order in which they are drawn: after the numbered ones."""


def layer_charts(results: Results, pair: str | None) -> list[Chart]:
    """One chart per statistic and attack: layers across, encoders in colours, attacked references in dashes."""
    charts = []
    for measure in STATISTICS:
        rows = swept(results.known(measure, language_pair=pair))
        name = statistic_text(measure)
        for perturbation in values(rows, "perturbation"):
            here = _clean_and_worst([row for row in rows if row["perturbation"] == perturbation])
            if len(values(here, "state")) < 2:
                continue
            title = f"Agreement with humans by layer under {perturbation}: {name}"
            described = (
                f"{name} with each layer's vectors, per encoder, with clean references and with those that "
                f"{perturbation} changed most; bars are 95 % intervals."
            )
            charts.append(Chart(f"layers-{measure}-{perturbation}", title, described, _drawn(here, name)))
    return charts


def layer_tables(results: Results) -> list[Table]:
    """Layers across, encoders and attacks down: clean references, and those at the highest level."""
    tables = []
    for measure in STATISTICS:
        for pair in values(results.where(measure), "language_pair"):
            rows = swept(results.known(measure, language_pair=pair))
            if not rows:
                continue
            layers, label = in_order(values(rows, "layer")), row_label(rows)
            shown = [
                {**row, "under": "" if row["state"] == "clean" else label(row)}
                for perturbation in values(rows, "perturbation")
                for row in _clean_and_worst([row for row in rows if row["perturbation"] == perturbation])
            ]
            encoders, under = values(shown, "encoder"), sorted(values(shown, "under"), key=bool)
            shown.sort(key=lambda row: (encoders.index(row["encoder"]), under.index(row["under"])))
            title = f"Agreement with humans by layer: {statistic_text(measure)}{of(pair)}"
            down = {"encoder": text("encoder"), "references": lambda row: row["under"] or "clean"}
            by = ("encoder", "under")
            tables += crossed(title, shown, by, down, "layer", digits("value", 3), heads=layers)
    return tables


def swept(rows: Sequence[Row]) -> list[Row]:
    """Rows of scorers that differ in nothing but their layer, with the columns `layer` and `encoder`."""
    found = []
    for row in rows:
        spec = _spec(row["scorer"])
        if spec is None or row["level"] is None or "layer" not in dict(spec.options):
            continue
        found.append({**row, "layer": dict(spec.options)["layer"], "encoder": str(spec.without("layer"))})
    several = {encoder for encoder in values(found, "encoder") if len(_layers(found, encoder)) > 1}
    among = values(found, "encoder")
    return [{**row, "encoder": _shown(row["encoder"], among)} for row in found if row["encoder"] in several]


def in_order(layers: Sequence[str]) -> list[str]:
    """Numbers by size, then words."""
    return sorted(layers, key=lambda name: (not name.isdecimal(), int(name) if name.isdecimal() else _rank(name)))


def _layers(rows: Sequence[Row], encoder: str) -> list[str]:
    return values([row for row in rows if row["encoder"] == encoder], "layer")


def _clean_and_worst(rows: list[Row]) -> list[Row]:
    """The lowest and the highest level, with the column `state`."""
    levels = sorted(values(rows, "level"))
    states = {level: "clean" if level == 0 else f"level {level:g}" for level in {levels[0], levels[-1]}}
    return [{**row, "state": states[row["level"]]} for row in rows if row["level"] in states]


def _drawn(rows: list[Row], name: str) -> Any:
    layers, encoders, states = in_order(values(rows, "layer")), values(rows, "encoder"), sorted(values(rows, "state"))
    ordered = sorted(rows, key=lambda row: layers.index(row["layer"]))
    fields = {"label": "layer", "name": "encoder", "kind": "state"}
    shown = points(ordered, **{name: itemgetter(column) for name, column in fields.items()})
    base = alt.Chart(data(shown)).encode(
        x=alt.X("label", type="nominal", title="layer", sort=layers, axis=alt.Axis(labelAngle=0))
    )
    scales = colour("name", encoders, "encoder")
    y = alt.Y("value", type="quantitative", title=name, scale=alt.Scale(zero=False))
    dash = alt.StrokeDash(
        "kind",
        type="nominal",
        scale=alt.Scale(domain=states, range=DASHES[: len(states)]),
        legend=alt.Legend(title="references", orient="bottom"),
    )
    bars = base.mark_rule(strokeWidth=1.5, opacity=0.6).encode(
        y=alt.Y("low", type="quantitative", title=name), y2="high", color=scales["color"]
    )
    numbered = "isValid(toNumber(datum.label)) && isFinite(toNumber(datum.label))"
    line = base.transform_filter(numbered).mark_line(strokeWidth=2).encode(y=y, color=scales["color"], strokeDash=dash)
    tips = tooltips(name="encoder", label="layer", kind="references", value=name, low="95 % from", high="to")
    marks = [
        base.transform_filter(f"datum.kind == '{state}'")
        .mark_point(size=70, strokeWidth=2, filled=filled, opacity=1)
        .encode(y=y, tooltip=tips, **scales)
        for state, filled in zip(states, (True, False), strict=False)
    ]
    return alt.layer(bars, line, *marks).properties(height=280)


def _spec(scorer: str | None) -> Spec | None:
    """A scorer's name read as a spec; None for one that was given its own name."""
    try:
        return parse(scorer or "")
    except UserError:
        return None


def _shown(encoder: str, among: Sequence[str]) -> str:
    """`bertscore[model=minilm-en]` is minilm-en where all are BERTScores."""
    options = dict(parse(encoder).options)
    alone = len({base_name(other) for other in among}) == 1 and set(options) == {"model"}
    return options["model"] if alone else scorer_text(encoder, among)


def _rank(word: str) -> int:
    return WORDS.index(word) if word in WORDS else len(WORDS)
