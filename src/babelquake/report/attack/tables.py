"""The attack study's tables: Huang 2023 Tables 1 and 2, costs, most damaging edits, transfer, lengths, people."""

import json
from typing import Any

import polars as pl

from babelquake.report.results import Results, Row, scorer_text, values
from babelquake.report.table import Table, number, with_sd
from babelquake.runs.run import Run

MOST = 12
"""Edits in the table of the most damaging ones."""


def attack_tables(run: Run) -> list[Table]:
    """What was found, what it took, and whom else it fools."""
    results = Results.of(run)
    return [
        *_shares(run, results),
        *_costs(results),
        *_damaging(run),
        *_transfer(results),
        *_lengths(results),
        *_humans(run, results),
    ]


def _shares(run: Run, results: Results) -> list[Table]:
    """Recipes down; victims and groups across: the share of sentences, and how many of how many."""
    rows = results.where("success")
    victims, recipes = values(rows, "scorer"), values(rows, "perturbation")
    groups = [group for group in values(rows, "group") if group is not None]
    across = [(victim, group) for victim in victims for group in ([*groups, None] if len(groups) != 1 else [None])]
    lines = tuple(
        (recipe, *(_share(results.one("success", scorer=v, perturbation=recipe, group=g)) for v, g in across))
        for recipe in recipes
    )
    heads = [f"{scorer_text(v, victims)}{f' · {g}' if g else ' · all' if groups else ''}" for v, g in across]
    goal = str(run.info.config.get("goal", ""))
    note = f"Share of attacked sentences with an eligible perturbation, and how many of how many. Goal: {goal}."
    return [Table("Eligible perturbations", ("recipe", *heads), lines, note)] if rows else []


def _share(row: Row | None) -> str:
    if row is None or row["value"] is None:
        return ""
    return f"{row['value']:.2f} % ({row['changed']} of {row['n']})"


def _costs(results: Results) -> list[Table]:
    rows = results.where("queries", group=None)
    lines = []
    for row in rows:
        key = {"scorer": row["scorer"], "perturbation": row["perturbation"]}
        edits = results.where("edit_share", **key)
        kinds = ", ".join(f"{edit['other']} {edit['value']:.0f} %" for edit in edits)
        per_success, words, gain = (
            results.one(name, **key) for name in ("queries_per_success", "words_changed", "gain")
        )
        lines.append(
            (
                row["scorer"],
                row["perturbation"],
                number(row["value"], 0),
                _value(per_success, 0),
                _value(words, 1),
                _value(gain, 2),
                kinds,
            )
        )
    columns = ("victim", "recipe", "queries per sentence", "queries per success", "words changed", "gain", "edits")
    note = "Queries are distinct questions to the victim. Words changed and gain are medians of eligible perturbations."
    return [Table("What it took", columns, tuple(lines), note)] if lines else []


def _damaging(run: Run) -> list[Table]:
    """The edits that cost most per changed word, one line each."""
    if not run.has("attacks"):
        return []
    found = run.scan("attacks").filter("success").with_columns(each=pl.col("gain") / pl.col("words_changed").clip(1))
    top = found.sort("each", "tuple", descending=[True, False]).head(MOST).collect()
    lines = tuple(
        (
            row["victim"],
            row["recipe"],
            edits_text(row["edits"]),
            number(row["score"], 2),
            number(row["score_perturbed"], 2),
            number(row["gain"], 2),
            row["perturbed"],
        )
        for row in top.iter_rows(named=True)
    )
    columns = ("victim", "recipe", "edits", "before", "after", "gain", "perturbed")
    note = "The largest gain per changed word. Scores are in standard deviations of the victim over the data."
    return [Table("Most damaging edits", columns, lines, note)] if lines else []


def edits_text(edits: str) -> str:
    """`pot → casserole`, `− not`, `+ good`."""
    return "; ".join(_edit(edit) for edit in json.loads(edits))


def _edit(edit: dict[str, Any]) -> str:
    if not edit["new"]:
        return f"− {edit['old']}"
    return f"+ {edit['new']}" if not edit["old"] else f"{edit['old']} → {edit['new']}"


def _transfer(results: Results) -> list[Table]:
    rows = results.where("transfer", perturbation=None)
    victims = values(rows, "scorer")
    others = values(rows, "other")
    lines = tuple(
        (victim, *(_share(results.one("transfer", scorer=victim, other=other)) for other in others))
        for victim in victims
    )
    note = "Of the eligible perturbations found against the metric on the left, the share that meets the goal above."
    return [Table("Transfer", ("found against", *others), lines, note)] if rows else []


def _lengths(results: Results) -> list[Table]:
    rows = results.where("length")
    tests = {row["other"]: row for row in results.where("shorter")}
    lines = tuple(
        (
            row["group"],
            str(row["n"]),
            with_sd(row, 1),
            f"{tests[row['group']]['p']:.2g}" if row["group"] in tests else "",
        )
        for row in rows
    )
    last = rows[-1]["group"] if rows else ""
    note = f"Words per attacked text (Huang 2023 Figure 3); p, one-sided rank-sum, that those of “{last}” are shorter."
    return [Table("Lengths", ("texts", "n", "words", "p"), lines, note)] if rows else []


def _humans(run: Run, results: Results) -> list[Table]:
    rows = results.where("overpenalised")
    if not rows:
        return []
    lines = []
    for row in rows:
        key = {name: row[name] for name in ("scorer", "perturbation", "group")}
        before, after, metric, human, spread = (
            results.one(name, **key)
            for name in ("pearson_original", "pearson_perturbed", "degradation", "degradation_human", "spread")
        )
        lines.append(
            (
                row["scorer"],
                row["perturbation"],
                row["group"] or "",
                str(row["n"]),
                with_sd(before, 3),
                with_sd(after, 3),
                _value(metric, 2),
                _value(human, 2),
                "" if row["p"] is None else f"{row['p']:.2g}",
                _value(spread, 2),
            )
        )
    columns = ("victim", "recipe", "group", "n", "r original", "r perturbed", "Δ metric", "Δ human", "p", "spread")
    cells = next(iter(results.where("cells_overpenalised")), None)
    note = "Pearson with human ratings ± standard error; median degradation; p that the metric's is larger (rank-sum)."
    if cells is not None:
        note += f" Significant in {cells['changed']} of {cells['n']} cells."
    return [Table("Metric and human", columns, tuple(lines), note)]


def _value(row: Row | None, digits: int) -> str:
    return "" if row is None else number(row["value"], digits)
