"""The attack study's page: who falls for what, how little it takes, and whether the others fall for it too.

Tables are Huang 2023 Tables 1 and 2, costs, most damaging edits, transfer, lengths, people.
"""

import json
from collections.abc import Iterable
from functools import partial
from typing import Any

import altair as alt
import polars as pl

from babelquake.report.charts import SHADES, Chart, View, data, dots, points, tooltips
from babelquake.report.examples import Packed, with_scorers_shown
from babelquake.report.names import base_name, named, recipe_text, results_of, scorer_text
from babelquake.report.pages import Examples, Page
from babelquake.report.remedies import against_attacks
from babelquake.report.table import (
    UNTESTABLE,
    Shown,
    Table,
    crossed,
    digits,
    interval,
    number,
    table_of,
    text,
    value_of,
    with_interval,
    with_sd,
)
from babelquake.runs.measures import ALPHA, CANNOT_BE_TESTED, Results, Row, values
from babelquake.runs.run import Run
from babelquake.studies.kinds import attack as kinds

MOST = 12
"""Lines of the table of the most damaging edits."""
FEW = 10
"""Edits of one text that a line names."""


def attack_tables(run: Run) -> list[Table]:
    """What was found, what it took, and whom else it fools."""
    results = results_of(run)
    return [
        *_shares_table(run, results),
        *_costs(results),
        *_edits(results),
        *_damaging(run),
        *_transfer_table(results),
        *_lengths(run, results),
        *_humans(run, results),
    ]


def _shares_table(run: Run, results: Results) -> list[Table]:
    """Victims and recipes down, groups across: the share of sentences, and how many these are."""
    rows = results.where("success")
    groups = [group for group in values(rows, "group") if group is not None]
    across = [*groups, None] if len(groups) != 1 else [None]
    sizes = {group: {row["n"] for row in rows if row["group"] == group} for group in across}
    heads = {
        group: ("all" if group is None else group) + (f" ({n})" if (n := _only(sizes[group])) is not None else "")
        for group in across
    }
    columns: dict[str, Shown] = {
        "victim": named(rows),
        "attack": lambda row: recipe_text(row["perturbation"]),
        **{heads[group]: partial(_share_of, results, group, _only(sizes[group]) is None) for group in across},
    }
    note = (
        "% of attacked sentences with an edit that meets the goal, and how many; in the head, how many were attacked. "
        f"Goal: {run.info.config.get('goal', '')}."
    )
    spare = tuple(heads[group] for group in groups if group in heads)
    return table_of("Successful attacks", results.where("success", group=None), columns, note, spare)


def _share_of(results: Results, group: str | None, of: bool, row: Row) -> str:
    key = {name: row[name] for name in ("scorer", "perturbation")}
    return _share(results.one("success", **key, group=group), of)


def _only(numbers: set[int]) -> int | None:
    """The number, where there is but one."""
    return next(iter(numbers)) if len(numbers) == 1 else None


def _share(row: Row | None, of: bool = True) -> str:
    """`86.7 (13/15)`, or `86.7 (13)` where the head tells of how many."""
    if row is None or row["value"] is None:
        return ""
    among = f"/{row['n']}" if of else ""
    return f"{row['value']:.1f} ({row['changed']}{among})"


def _costs(results: Results) -> list[Table]:
    rows = results.where("queries", group=None)
    columns: dict[str, Shown] = {
        "victim": named(rows),
        "attack": lambda row: recipe_text(row["perturbation"]),
        kinds.QUERIES.column: digits("value", 0),
        kinds.QUERIES_PER_SUCCESS.column: lambda row: value_of(results.beside(row, "queries_per_success"), 0),
        kinds.WORDS_CHANGED.column: lambda row: value_of(results.beside(row, "words_changed"), 1),
        kinds.GAIN.column: lambda row: value_of(results.beside(row, "gain"), 2),
    }
    if results.where("mean_rise"):
        columns[kinds.MEAN_RISE.column] = lambda row: _risen(results.beside(row, "mean_rise"))
    note = (
        "Distinct questions to the victim, per sentence and per success; words changed and effect on the score, "
        "medians of successful edits."
    )
    return table_of("What it took", rows, columns, note)


def _risen(row: Row | None) -> str:
    """The mean rise over all sentences with its interval."""
    if row is None or row["value"] is None:
        return ""
    return f"{number(row['value'], 2, sign=True)} {interval(row)}".strip()


def _edits(results: Results) -> list[Table]:
    """What the edits of eligible perturbations are."""
    rows = results.where("edit_share")
    cells = {(row["scorer"], row["perturbation"]): row for row in reversed(rows)}

    def shares(row: Row) -> str:
        edits = results.where("edit_share", scorer=row["scorer"], perturbation=row["perturbation"])
        return ", ".join(f"{edit['other']} {edit['value']:.0f} %" for edit in edits)

    columns: dict[str, Shown] = {
        "victim": named(rows),
        "attack": lambda row: recipe_text(row["perturbation"]),
        "edits": shares,
    }
    return table_of("Kinds of edits", [*reversed(cells.values())], columns)


def _damaging(run: Run) -> list[Table]:
    """The edits that cost most per changed word, one line each."""
    if not run.has("attacks"):
        return []
    found = run.scan("attacks").filter("success").with_columns(each=pl.col("gain") / pl.col("words_changed").clip(1))
    top = found.sort("each", "tuple", descending=[True, False]).head(MOST).collect()
    rows = top.to_dicts()
    columns: dict[str, Shown] = {
        "victim": named(rows, "victim"),
        "attack": lambda row: recipe_text(row["recipe"]),
        "edits": lambda row: edits_text(row["edits"]),
        "before": digits("score", 2),
        "after": digits("score_perturbed", 2),
        "gain": digits("gain", 2),
    }
    scores = (
        "chrF against the translation of the clean source"
        if run.info.config.get("system")
        else "in standard deviations of the victim over the data"
    )
    note = f"The largest gain per changed word. Scores are {scores}."
    title = "Edits that raise the score most" if effect(run) == "rise" else "Most damaging edits"
    return table_of(title, rows, columns, note)


def edits_text(edits: str) -> str:
    """`pot → casserole`, `− not`, `+ good`; of very many the first few."""
    shown = [_edit(edit) for edit in json.loads(edits)]
    more = len(shown) - FEW
    return "; ".join(shown if more <= 1 else [*shown[:FEW], f"and {more} more"])


def _edit(edit: dict[str, Any]) -> str:
    if not edit["new"]:
        return f"− {edit['old']}"
    return f"+ {edit['new']}" if not edit["old"] else f"{edit['old']} → {edit['new']}"


def _transfer_table(results: Results) -> list[Table]:
    rows = results.where("transfer", perturbation=None, group=None)
    others = values(rows, "other")
    note = "% of what was found against the metric on the left that meets the goal above too (how many of how many)."
    down = {"found against": lambda row: scorer_text(row["scorer"], others)}
    named = partial(scorer_text, among=others)
    return crossed("Transfer", rows, ("scorer",), down, "other", _share, named, others, note)


def _lengths(run: Run, results: Results) -> list[Table]:
    rows = results.where("length")
    tests = {row["other"]: row for row in results.where("shorter")}
    columns = {
        "texts": text("group"),
        "n": text("n"),
        "words": with_interval,
        "p": lambda row: _p(tests.get(row["group"])),
    }
    note = "Words per attacked text with 95 % intervals (Huang 2023 Figure 3)"
    if by := run.info.config.get("by"):
        note += f"; of all, as many of each {by}"
    if tests:
        note += f"; p, one-sided rank-sum, that those of “{rows[-1]['group']}” are shorter"
    return table_of("Lengths", rows, columns, f"{note}.{_untested(tests.values())}")


def _spread(row: Row | None) -> str:
    """A ratio of standard deviations, marked where it is significantly not 1."""
    told = row is not None and row["verdict"] != CANNOT_BE_TESTED and row["p"] is not None and row["p"] < ALPHA
    return value_of(row, 2) + ("*" if told else "")


def _p(row: Row | None) -> str:
    """A p-value; a dagger where no outcome could have been significant."""
    if row is None or row["p"] is None:
        return ""
    return f"{row['p']:.2g}{UNTESTABLE if row['verdict'] == CANNOT_BE_TESTED else ''}"


def _untested(tests: Iterable[Row]) -> str:
    """What the dagger means, where there is one."""
    few = any(row["verdict"] == CANNOT_BE_TESTED for row in tests)
    return f" {UNTESTABLE} cannot be tested: too few texts." if few else ""


def effect(run: Run) -> str:
    """What the goal does to scores."""
    return "rise" if str(run.info.config.get("goal", "")).startswith("inflate") else "degradation"


def _humans(run: Run, results: Results) -> list[Table]:
    """Figures 2 and 5 of Huang 2023."""
    rows = results.where("overpenalised")
    who: dict[str, Shown] = {
        "victim": named(rows),
        "attack": lambda row: recipe_text(row["perturbation"]),
        "group": text("group"),
        "n": text("n"),
    }
    correlations: dict[str, Shown] = {
        "original": lambda row: with_sd(results.beside(row, "pearson_original"), 3),
        "perturbed": lambda row: with_sd(results.beside(row, "pearson_perturbed"), 3),
    }
    falls: dict[str, Shown] = {
        "metric": lambda row: value_of(results.beside(row, "degradation"), 2),
        "people": lambda row: value_of(results.beside(row, "degradation_human"), 2),
        "p": _p,
        "spread": lambda row: _spread(results.beside(row, "spread")),
    }
    said = "Pearson's r of the metric with human ratings, ± standard error (Huang 2023 Figure 2)."
    note = (
        f"Median {effect(run)} by metric and people; p that the metric's is larger (one-sided rank-sum); spread, the "
        f"metric's standard deviation over people's, * where it differs from 1 with p < {ALPHA:g} (Brown–Forsythe; "
        "Huang 2023 Figure 5)."
    )
    for cells in results.known("cells_overpenalised"):
        note += f" Significant in {cells['changed']} of {cells['n']} cells."
    note += _untested(rows)
    correlated = [row for row in rows if results.beside(row, "pearson_original")]
    return [
        *table_of("Correlation with people", correlated, who | correlations, said),
        *table_of("Metric and people", rows, who | falls, note),
    ]


CELL = 46
"""Height of one line of the heat map."""


def attack_views(run: Run) -> list[View]:
    """One view: everything there is."""
    results = results_of(run)
    charts = [*_shares(results), *_transfer(results), *_degradation(run, results)]
    return [View("all", charts)] if charts else []


def _shares(results: Results) -> list[Chart]:
    rows = results.known("success", group=None)
    if not rows:
        return []
    tried = values(rows, "perturbation")
    shown = points(rows, name=named(rows), label=lambda row: recipe_text(row["perturbation"], tried))
    share = alt.Scale(domain=[0, 100])
    chart = dots(
        shown, values(shown, "name"), "victim", "% of sentences", share, label="attack", value="% of sentences"
    )
    described = "The share of sentences for which an attack finds an edit that meets its goal, with 95 % intervals."
    return [Chart("attack-success", "How often each attack succeeds", described, chart)]


def _transfer(results: Results) -> list[Chart]:
    rows = results.known("transfer", perturbation=None)
    if not rows:
        return []
    victim, other = named(rows), named(rows, "other")
    cells = [
        {"name": victim(row), "label": other(row), "value": row["value"], "shown": f"{row['value']:.0f}", "n": row["n"]}
        for row in rows
    ]
    base = alt.Chart(data(cells)).encode(
        x=alt.X("label:N", title="judged by", sort=None, axis=alt.Axis(labelAngle=-20, orient="top")),
        y=alt.Y("name:N", title="found against", sort=None),
    )
    squares = base.mark_rect().encode(
        color=alt.Color("value:Q", title="% fooled", scale=alt.Scale(range=SHADES, domain=[0, 100])),
        tooltip=tooltips(name="found against", label="judged by", value="% that meet the goal", n="perturbations"),
    )
    numbers = base.mark_text(fontSize=13, color="black").encode(text="shown:N")
    described = (
        "Of the perturbations found against the metric of a line, the share that meets the goal under the metric of a "
        "column, each on its own scale."
    )
    chart = alt.layer(squares, numbers).properties(height=CELL * len(values(cells, "name")))
    return [Chart("attack-transfer", "Transfer", described, chart)]


def _degradation(run: Run, results: Results) -> list[Chart]:
    """Figure 5: what the metric takes off, beside what people do; medians and the middle half of each cell."""
    rows = results.where("degradation")
    if not rows or not run.has("rated"):
        return []
    victim, rated = named(rows), run.table("rated")
    what = effect(run)
    shown: list[dict[str, Any]] = []
    for row in rows:
        cell = rated.filter(
            pl.col("group").eq_missing(pl.lit(row["group"])), victim=row["scorer"], recipe=row["perturbation"]
        )
        about = " · ".join(filter(None, [row["group"], victim(row), recipe_text(row["perturbation"])]))
        for who, column in (("metric", "metric_drop"), ("people", "human_drop")):
            low, middle, high = (cell[column].quantile(share, "linear") for share in (0.25, 0.5, 0.75))
            shown.append({"label": about, "name": who, "value": middle, "low": low, "high": high})
    chart = dots(
        shown,
        ["metric", "people"],
        "judged by",
        f"{what} (standard deviations)",
        alt.Scale(zero=False),
        "middle half",
        room=360,
        label="cell",
        value=f"median {what}",
    )
    described = (
        f"{what.capitalize()} of perturbed translations as the metric and as people judge it (Huang 2023 Figure 5): "
        "medians, and lines from the first quartile to the third."
    )
    return [Chart("attack-degradation", "Metric and people", described, chart, wide=True)]


RENDERED = ("rendering", "rendering_perturbed")
"""What an attacked system makes of the source before and after."""
FACETS = (("scorer", "Victim"), ("cell", "Attack"), ("kinds", "Edits"))


def found(run: Run, wanted: pl.Expr) -> pl.LazyFrame:
    """Eligible perturbations: normalised scores before and after; the damage is what the goal gained."""
    attacks = run.scan("attacks").filter(wanted & pl.col("success"))
    rendered = [name for name in RENDERED if run.has("renderings")]
    if rendered:
        attacks = attacks.join(run.scan("renderings"), on="tuple", how="left", maintain_order="left")
    return attacks.select(
        "row",
        "id",
        pl.col("victim").alias("scorer"),
        pl.col("recipe").alias("perturbation"),
        pl.lit(None, pl.Float64).alias("level"),
        pl.lit(0).alias("replicate"),
        pl.col("original"),
        pl.col("perturbed").alias("text"),
        pl.col("score").alias("before"),
        pl.col("score_perturbed").alias("after"),
        pl.col("gain").alias("drop"),
        "edits",
        "words_changed",
        *rendered,
    )


def columns(run: Run, table: pl.DataFrame) -> dict[str, Any]:
    """The attacked text before and after, with both scores; source and reference beside it."""
    kinds = [
        ", ".join(sorted({edit["kind"] for edit in json.loads(edits)})) for edits in table["edits"].fill_null("[]")
    ]
    packed = Packed(with_scorers_shown(table).with_columns(kinds=pl.Series(kinds, dtype=pl.String)))
    on_system = run.info.config.get("system")
    packed.changed("Source" if on_system else "Translation", "original", "text")
    if set(RENDERED) <= set(packed.table.columns):
        packed.changed("Translation", *RENDERED)
    if not on_system:
        packed.beside("Source", "segment_source")
    packed.beside("Reference", "segment_reference")
    called = "gain" if effect(run) == "rise" else "damage"
    return packed.columns("how far the score moved", FACETS, ("drop", "before", "after"), called)


EXAMPLES = Examples(found, "scorer", columns, titled=recipe_text, title="Worst of these edits", one_scale=True)


QUESTIONS = {
    "inflate": "Which small edits make this metric score far too high?",
    "inconsistent": "Which small edits does this metric judge inconsistently?",
    "collapse": "Which small edits of a source make this system's translation collapse?",
}


def attack_question(run: Run) -> str | None:
    """What was searched for, where it is not what the study searches as a rule."""
    return QUESTIONS.get(base_name(str(run.info.config.get("goal", ""))))


PAGE = Page(
    attack_tables, attack_views, EXAMPLES, compared=("success",), question=attack_question, advice=against_attacks
)
