"""The metric study's page: sensitivity (Jwalapuram 2023 Tables 2–3), agreement under noise (Vu 2022), challenges.

Where scorers differ in nothing but the layer that vectors are taken from, agreement by layer (Vu 2022, Figure 3).
"""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import altair as alt

from babelquake.errors import UserError
from babelquake.perturb.labels import known_card
from babelquake.report.charts import (
    DASHES,
    HARM,
    Chart,
    View,
    colour,
    curves,
    data,
    dots,
    forest,
    points,
    sweeps,
    tooltips,
)
from babelquake.report.examples import EXAMPLES
from babelquake.report.names import (
    base_name,
    labelled,
    level_text,
    named,
    results_of,
    row_label,
    scorer_text,
    statistic_text,
    tested_text,
)
from babelquake.report.pages import Page
from babelquake.report.pitfalls import judge_tables, length_charts, pitfall_chart, pitfall_tables
from babelquake.report.remedies import about_scorers
from babelquake.report.table import (
    Table,
    cell,
    crossed,
    digits,
    interval,
    note_on,
    number,
    of,
    parts_table,
    table_of,
    text,
    value_of,
)
from babelquake.report.verdict import sentence_case
from babelquake.runs.measures import STATISTICS, Results, Row, apart, values
from babelquake.runs.run import Run
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


def metric_tables(run: Run) -> list[Table]:
    """Whatever questions the run asked, in order."""
    results = results_of(run)
    meaning = run.info.facts.meaning
    return [
        *pitfall_tables(run, results),
        *_best_of_tables(results),
        *_sensitivity(results.whole, meaning),
        *parts_table("Δ by part of the data", results.where("delta"), "scorer", "Δ", 2),
        *_wrong_order(results),
        *_agreement_tables(results),
        *layer_tables(results),
        *_unknown_tables(results),
        *_challenge_tables(results),
        *judge_tables(results.whole),
    ]


def _best_of_tables(results: Results) -> list[Table]:
    """Pickers and judges down, numbers of candidates across."""
    rows = results.where("best_of")
    down = {"picked by": text("scorer"), "judged by": text("other"), "candidates": lambda row: row["group"] or "all"}
    note = "What the pick gains over a random one, in standard deviations of the judge's scores, with 95 % intervals."
    return crossed(
        "Selection pressure",
        rows,
        ("scorer", "other", "group", "language_pair"),
        down,
        "level",
        lambda row: f"{number(row['value'], 2, sign=True)} {interval(row)}".strip(),
        "best of {:g}".format,
        sorted(values(rows, "level")),
        note,
    )


CELL = ("language_pair", "perturbation", "level")


def _sensitivity(results: Results, meaning: dict[str, str]) -> list[Table]:
    deltas = results.where("delta")

    def places(row: Row) -> int:
        return results.digits(row["scorer"])

    columns = {
        "scorer": text("scorer"),
        "perturbation": row_label(deltas),
        "meaning": lambda row: meaning.get(row["perturbation"], ""),
        "n": lambda row: str(row["n"] or ""),
        "changed": text("changed"),
        "words": lambda row: value_of(results.one("achieved_words", **{name: row[name] for name in CELL}), 0),
        "clean": lambda row: value_of(results.beside(row, "score"), places(row)),
        "perturbed": lambda row: value_of(results.beside(row, "score_perturbed"), places(row)),
        "Δ": lambda row: cell(row, places(row)),
        "95 % interval": lambda row: interval(row, places(row)),
    }
    note = f"Words: % of words changed. Δ is what that did to the score; better is up. {note_on(deltas)}".strip()
    spare = ("95 % interval", "perturbed", "clean", "n", "meaning", "changed", "words")
    tables = []
    for (pair,), here in apart(deltas, "language_pair"):
        tables += table_of(f"Sensitivity{of(pair)}", here, columns, note, spare)
    return tables


def _wrong_order(results: Results) -> list[Table]:
    """Harmless changes that cost more than harmful ones, and harmful ones that raise the score."""
    harmless, harmful = results.where("harmless_costs_more"), results.where("rewards_harmful")
    compared = "Share of comparisons on the same segment in which the harmless change costs more than a harmful one."
    heads, risen = ("harmless change", "% costs more", "comparisons"), ("harmful change", "% rewarded", "texts")
    note = "Share of texts whose score rose with the harmful change."
    rewarded = [row for row in harmful if row["value"]]
    return [
        *_by_change("Harmless changes that cost more than harmful ones", harmless, heads, compared),
        *_by_change("Harmful changes that are rewarded", rewarded, risen, note),
    ]


def _by_change(title: str, rows: list[Row], heads: tuple[str, str, str], note: str) -> list[Table]:
    change, share, counted = heads
    columns = {
        "scorer": text("scorer"),
        "language pair": text("language_pair"),
        change: row_label(rows),
        share: digits("value"),
        counted: lambda row: str(row["n"] or ""),
    }
    ordered = sorted(rows, key=lambda row: -(row["value"] or 0))
    return table_of(title, ordered, columns, note, spare=(counted,))


def _agreement_tables(results: Results) -> list[Table]:
    tables = []
    for measure in STATISTICS:
        rows = results.where(measure)
        for pair in sorted(values(rows, "language_pair"), key=lambda pair: pair != "average"):
            here = [row for row in rows if row["language_pair"] == pair]
            title = f"Agreement with humans: {statistic_text(measure)}{of(pair)}"
            tables += _by_level(title, here, "Level 0 is the clean reference.", 3)
    return tables


def _unknown_tables(results: Results) -> list[Table]:
    names = {"unknown_tokens": "Unknown tokens per segment", "unk_share": "Unknown tokens in per cent of all"}
    return [
        table
        for measure, title in names.items()
        for pair in values(results.where(measure), "language_pair")
        for table in _by_level(f"{title}{of(pair)}", results.where(measure, language_pair=pair), "", 2, "tokenizer")
    ]


def _by_level(title: str, rows: list[Row], note: str, places: int, who: str = "scorer") -> list[Table]:
    """Scorers down, noise levels across, as Vu 2022 prints them."""
    perturbations = values(rows, "perturbation")
    cards = {name: card for name in perturbations if name and (card := known_card(name)) and card.unit}
    units, label = {card.unit for card in cards.values()}, labelled(perturbations)

    def named(row: Row) -> str:
        """With the level's unit where perturbations of a table differ in it."""
        said, name = label(row["perturbation"], None), row["perturbation"]
        return f"{said} ({cards[name].unit})" if len(units) > 1 and name in cards else said

    return crossed(
        title,
        sorted(rows, key=lambda row: perturbations.index(row["perturbation"])),
        ("perturbation", who),
        {"perturbation": named, who: text(who)},
        "level",
        digits("value", places),
        lambda level: level_text(level) or "–",
        sorted(values(rows, "level"), key=lambda level: -1.0 if level is None else level),
        f"Level: {next(iter(units))}. {note}".strip() if len(units) == 1 else note,
    )


def _challenge_tables(results: Results) -> list[Table]:
    note = "Share of triples in which the original translation scores strictly higher than the damaged one."
    down = {"phenomenon": group_text, "n": lambda row: str(row["n"] or "")}
    by = ("perturbation", "group")
    detected, changed = (results.where(name) for name in ("detection_accuracy", "change_ratio"))
    return [
        *crossed("Detection accuracy in per cent", detected, by, down, "scorer", digits("value"), note=note),
        *crossed("Ratio of the change", changed, by, down, "scorer", digits("value", 3)),
    ]


def group_text(row: Row) -> str:
    """Which triples of a challenge set a row is about."""
    return row["perturbation"] or (f"severity: {row['group']}" if row["group"] else "all")


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
        charts.append(Chart(f"forest-{name}", title, described, forest(shown, f"Δ {name} (perturbed − clean)")))
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
    for (group,), here in apart(rows, "group"):
        names = values(here, "other")
        judged_by = named(here, "other")
        for (picker,), mine in apart(here, "scorer"):
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
