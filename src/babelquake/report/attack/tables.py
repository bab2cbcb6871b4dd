"""The attack study's tables: Huang 2023 Tables 1 and 2, costs, most damaging edits, transfer, lengths, people."""

import json
from typing import Any

import polars as pl

from babelquake.report.results import Results, Row, scorer_text, values
from babelquake.report.table import Table, digits, table_of, text, value_of, with_sd
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
        *_humans(results),
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
    def kinds(row: Row) -> str:
        edits = results.where("edit_share", scorer=row["scorer"], perturbation=row["perturbation"])
        return ", ".join(f"{edit['other']} {edit['value']:.0f} %" for edit in edits)

    columns = {
        "victim": text("scorer"),
        "recipe": text("perturbation"),
        "queries per sentence": digits("value", 0),
        "queries per success": lambda row: value_of(results.beside(row, "queries_per_success"), 0),
        "words changed": lambda row: value_of(results.beside(row, "words_changed"), 1),
        "gain": lambda row: value_of(results.beside(row, "gain"), 2),
        "edits": kinds,
    }
    note = "Queries are distinct questions to the victim. Words changed and gain are medians of eligible perturbations."
    return table_of("What it took", results.where("queries", group=None), columns, note)


def _damaging(run: Run) -> list[Table]:
    """The edits that cost most per changed word, one line each."""
    if not run.has("attacks"):
        return []
    found = run.scan("attacks").filter("success").with_columns(each=pl.col("gain") / pl.col("words_changed").clip(1))
    top = found.sort("each", "tuple", descending=[True, False]).head(MOST).collect()
    columns = {
        "victim": text("victim"),
        "recipe": text("recipe"),
        "edits": lambda row: edits_text(row["edits"]),
        "before": digits("score", 2),
        "after": digits("score_perturbed", 2),
        "gain": digits("gain", 2),
        "perturbed": text("perturbed"),
    }
    note = "The largest gain per changed word. Scores are in standard deviations of the victim over the data."
    return table_of("Most damaging edits", top.to_dicts(), columns, note)


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
    columns = {
        "texts": text("group"),
        "n": text("n"),
        "words": lambda row: with_sd(row, 1),
        "p": lambda row: f"{tests[row['group']]['p']:.2g}" if row["group"] in tests else "",
    }
    last = rows[-1]["group"] if rows else ""
    note = f"Words per attacked text (Huang 2023 Figure 3); p, one-sided rank-sum, that those of “{last}” are shorter."
    return table_of("Lengths", rows, columns, note)


def _humans(results: Results) -> list[Table]:
    columns = {
        "victim": text("scorer"),
        "recipe": text("perturbation"),
        "group": text("group"),
        "n": text("n"),
        "r original": lambda row: with_sd(results.beside(row, "pearson_original"), 3),
        "r perturbed": lambda row: with_sd(results.beside(row, "pearson_perturbed"), 3),
        "Δ metric": lambda row: value_of(results.beside(row, "degradation"), 2),
        "Δ human": lambda row: value_of(results.beside(row, "degradation_human"), 2),
        "p": lambda row: "" if row["p"] is None else f"{row['p']:.2g}",
        "spread": lambda row: value_of(results.beside(row, "spread"), 2),
    }
    note = "Pearson with human ratings ± standard error; median degradation; p that the metric's is larger (rank-sum)."
    for cells in results.where("cells_overpenalised"):
        note += f" Significant in {cells['changed']} of {cells['n']} cells."
    return table_of("Metric and human", results.where("overpenalised"), columns, note)
