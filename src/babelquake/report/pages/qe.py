"""The QE study's page: what each model notices, and whether that ranks models as people do.

Kanojia 2021 Table 4 (MT, MPP, MAP, their ranking) and Tables 2–3 (drops per probe).
"""

import altair as alt

from babelquake.report.charts import HARM, HEIGHT, NEUTRAL, Chart, View, colour, data, dots, forest, points, tooltips
from babelquake.report.examples import EXAMPLES
from babelquake.report.names import named, results_of, row_label, scorer_text, tested_text
from babelquake.report.pages import Page
from babelquake.report.pitfalls import judge_tables, length_charts, pitfall_chart, pitfall_tables
from babelquake.report.remedies import about_scorers
from babelquake.report.table import Shown, Table, cell, interval, note_on, number, of, parts_table, table_of, value_of
from babelquake.report.verdict import sentence_case
from babelquake.runs.info import Flag, Probe
from babelquake.runs.measures import CANNOT_BE_TESTED, Results, Row, largest_first, values
from babelquake.runs.run import Run

MEANS = ("score_mt", "score_mpp", "score_map", "discrimination", "pearson")


def qe_tables(run: Run) -> list[Table]:
    """Per language pair the ranking of models and the drop under each probe; then the flags."""
    everything = results_of(run)
    results = everything.whole
    probes = run.info.facts.probes
    turned = _turned(run.info.facts.lower_is_better)
    tables = pitfall_tables(run, results)
    for pair in values(results.where("discrimination", "drop"), "language_pair"):
        tables += [
            *_ranking_table(results, pair, run.info.facts.left_out, turned),
            *_rivalries(results, pair),
            *_drops(results, pair, probes, turned),
            *parts_table(
                f"Drops by part of the data{of(pair)}",
                everything.where("drop", language_pair=pair),
                "scorer",
                "drop",
                3,
            ),
        ]
    return tables + judge_tables(results) + _flags(run.info.facts.flags)


def _turned(errors: list[str]) -> str:
    """What must be said of scorers where less is better."""
    return f" Less is better for {', '.join(errors)}: differences are turned round there." if errors else ""


def _ranking_table(results: Results, pair: str | None, left_out: str | None, turned: str) -> list[Table]:
    def get(measure: str, scorer: str) -> Row | None:
        return results.one(measure, language_pair=pair, scorer=scorer)

    places = results.digits

    def rank(row: Row | None) -> str:
        return f"{row['value']:g}" if row and row["value"] is not None else ""

    columns: dict[str, Shown] = {
        "model": lambda scorer: scorer,
        "MT": lambda scorer: value_of(get("score_mt", scorer), places(scorer)),
        "MPP": lambda scorer: value_of(get("score_mpp", scorer), places(scorer)),
        "MAP": lambda scorer: value_of(get("score_map", scorer), places(scorer)),
        "MPP − MAP": lambda scorer: cell(get("discrimination", scorer), places(scorer)),
        "ordered right": lambda scorer: value_of(get("ordered_right", scorer), 1),
        "Pearson's r": lambda scorer: value_of(get("pearson", scorer), 3),
        "rank": lambda scorer: rank(get("rank_discrimination", scorer)),
        "raw rank": lambda scorer: rank(get("rank_mpp_minus_map", scorer)),
        "rank by r": lambda scorer: rank(get("rank_pearson", scorer)),
    }
    note = "MPP meaning-preserving, MAP meaning-altering perturbations; discrimination is MPP − MAP."
    note += " Ordered right: % of segments that lose more to MAP than to MPP."
    note += turned
    note += f" MAP is over {left_out}" if left_out else ""
    note += (
        " Rank: by MPP − MAP in standard deviations of the model's scores; raw rank: in its points, as the paper does."
    )
    for name, which in (("rank_agreement", "rank"), ("rank_agreement_raw", "raw rank")):
        for agreement in results.known(name, language_pair=pair):
            p = f" (p = {agreement['p']:.3g})" if agreement["p"] is not None else ""
            p = f" (cannot be tested on {agreement['n']} models)" if agreement["verdict"] == CANNOT_BE_TESTED else p
            within = f" {found}" if (found := interval(agreement, 2)) else ""
            note += f" τ of {which} and rank by r: {number(agreement['value'], 2)}{within}{p}."
    scorers = values(results.where(*MEANS, language_pair=pair), "scorer")
    return table_of(
        f"Quality estimation{of(pair)}",
        scorers,
        columns,
        note,
        spare=("raw rank", "rank by r", "rank", "ordered right"),
    )


def _rivalries(results: Results, pair: str | None) -> list[Table]:
    columns: dict[str, Shown] = {
        "models": lambda row: f"{row['scorer']} − {row['other']}",
        "difference": lambda row: cell(row, 2),
        "95 % interval": lambda row: interval(row, 2),
    }
    rows = results.where("discrimination_standardised_difference", language_pair=pair)
    note = (
        "How much better the first tells harmful from harmless changes: MPP − MAP in standard deviations of its scores."
    )
    return table_of(f"Differences between models{of(pair)}", rows, columns, f"{note} {note_on(rows)}".strip())


def _drops(results: Results, pair: str | None, probes: dict[str, Probe], turned: str) -> list[Table]:
    rows = results.where("drop", language_pair=pair)
    if not rows:
        return []
    scorers = values(rows, "scorer")
    cells = {(row["perturbation"], row["level"], row["scorer"]): row for row in rows}
    known = list(probes)
    order = sorted(
        dict.fromkeys((row["perturbation"], row["level"], row["n"]) for row in rows if row["scorer"] == scorers[0]),
        key=lambda probe: (known.index(probe[0]) if probe[0] in probes else len(known), probe[1] or 0),
    )
    names = [label for label, _, _ in order]
    lines = tuple(
        (
            probe_title(label, probes) + (f", level {level:g}" if names.count(label) > 1 and level is not None else ""),
            str(n or ""),
            *(cell(cells.get((label, level, scorer)), results.digits(scorer)) for scorer in scorers),
        )
        for label, level, n in order
    )
    note = f"Score of the translation minus score of the perturbed one.{turned} {note_on(rows)}".strip()
    return [Table(f"Drop per probe{of(pair)}", ("probe", "n", *scorers), lines, note)]


def probe_title(label: str, probes: dict[str, Probe]) -> str:
    """A probe's title where the study gave one."""
    return probes[label].title if label in probes else label


def meaning_of(label: str, probes: dict[str, Probe]) -> str:
    """What a probe does to the meaning; empty where nobody said."""
    return probes[label].meaning if label in probes else ""


def _flags(flags: list[Flag]) -> list[Table]:
    columns: dict[str, Shown] = {
        "model": lambda flag: flag.scorer,
        "language pair": lambda flag: flag.language_pair or "",
        "probe": lambda flag: flag.perturbation or "",
        "what is wrong": lambda flag: flag.text,
    }
    return table_of("Flags", flags, columns, spare=("probe",))


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
        mine = largest_first(row for row in rows if row["scorer"] == scorer)
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
    rows = largest_first(row for row in rows if row["language_pair"] == pairs[0]) if pairs else []
    if len(rows) < 2:
        return next(
            (chart for view in qe_views(run)[:1] for chart in view.charts if chart.name.startswith("profile")), None
        )
    shown = points(rows, label=named(rows), name=lambda row: "")
    title = "harmful changes score lower by (sd)"
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
