"""The page of `check`: which failures there are, how often, and the translations that have them."""

from typing import Any

import polars as pl

from babelquake.failures import DETECTORS
from babelquake.report.packing import Packed
from babelquake.report.page import Examples, Page
from babelquake.report.phrases import listed, of_pair
from babelquake.report.results import Results, Row, short_names, values
from babelquake.report.table import Table, number, of
from babelquake.runs.run import Run

ANY = "any"
MOST_NAMED = 3
"""Kinds that a line names."""


def check_tables(run: Run) -> list[Table]:
    """Per language pair: systems with their rates and commonest failures; then every kind, with the system it hits."""
    results = Results.of(run)
    pairs = values(results.where("failures"), "language_pair")
    return [table for pair in pairs for table in (_systems(results, pair), _kinds(results, pair)) if table.rows]


def _systems(results: Results, pair: str | None) -> Table:
    rows = _of_systems(results, pair, scorer=ANY)
    parts = any(row["perturbation"] for row in rows)
    lines = tuple(
        (
            row["system"] or "",
            *([row["perturbation"] or "clean"] if parts else []),
            f"{row['n']:,}",
            percent(row),
            f"[{number(row['low'], 2)}, {number(row['high'], 2)}]",
            "; ".join(f"{kind['scorer']} {percent(kind)}" for kind in _commonest(results, row)),
        )
        for row in sorted(rows, key=lambda row: -row["value"])
    )
    columns = (
        "system",
        *(["source"] if parts else []),
        "translations",
        "% with a failure",
        "95 % interval",
        "commonest",
    )
    return Table(f"Failures by system{of(pair)}", columns, lines, spare=("95 % interval",))


def _of_systems(results: Results, pair: str | None, **key: Any) -> list[Row]:
    """Rows of single systems; of all together where only one, or none, is named."""
    rows = results.where("failures", language_pair=pair, group=None, **key)
    return [row for row in rows if row["system"] is not None] or rows


def _commonest(results: Results, row: Row) -> list[Row]:
    same = {name: row[name] for name in ("language_pair", "system", "perturbation", "group")}
    found = [kind for kind in results.where("failures", **same) if kind["scorer"] != ANY and kind["value"]]
    return sorted(found, key=lambda kind: -kind["value"])[:MOST_NAMED]


def _kinds(results: Results, pair: str | None) -> Table:
    rows = [row for row in _of_systems(results, pair) if row["scorer"] != ANY]
    lines = []
    for kind in values(rows, "scorer"):
        here = [row for row in rows if row["scorer"] == kind]
        flagged = sum(round(row["value"] * row["n"] / 100) for row in here)
        total = sum(row["n"] for row in here)
        worst = max(here, key=lambda row: row["value"])
        if flagged:
            most = f"{worst['system']} {percent(worst)}" if worst["system"] and len(here) > 1 else ""
            lines.append((kind, described(kind), f"{flagged:,}", f"{100 * flagged / total:.2f}", most))
    lines.sort(key=lambda line: -float(line[3]))
    columns = ("kind", "what it is", "translations", "%", "most")
    return Table(f"Kinds of failure{of(pair)}", columns, tuple(lines), spare=("what it is", "most"))


def described(kind: str) -> str:
    """What a kind of failure is; a rule of the user's own says it by its name."""
    return DETECTORS.get(kind).description if kind in DETECTORS.names() else "your rule"


def percent(row: Row) -> str:
    """A rate with two places."""
    return number(row["value"], 2)


def check_verdict(run: Run) -> list[str]:
    """Per language pair how many translations have a failure, and which kinds are commonest."""
    results = Results.of(run)
    pairs = values(results.where("failures"), "language_pair")
    return [of_pair(pair, pairs) + _sentence(results, pair) for pair in pairs]


def _sentence(results: Results, pair: str | None) -> str:
    rows = _of_systems(results, pair, scorer=ANY)
    total = sum(row["n"] for row in rows)
    flagged = sum(round(row["value"] * row["n"] / 100) for row in rows)
    if not flagged:
        return f"No failures were found in {total:,} translations."
    kinds = {
        kind: sum(round(row["value"] * row["n"] / 100) for row in _of_systems(results, pair, scorer=kind))
        for kind in values(results.where("failures", language_pair=pair), "scorer")
        if kind != ANY
    }
    first = sorted((kind for kind, count in kinds.items() if count), key=lambda kind: -kinds[kind])[:MOST_NAMED]
    named = listed([f"{kind} ({kinds[kind]:,})" for kind in first])
    said = f"{flagged:,} of {total:,} translations ({100 * flagged / total:.2f} %) have a failure, most often {named}."
    best, worst = min(rows, key=lambda row: row["value"]), max(rows, key=lambda row: row["value"])
    if best["system"] != worst["system"] and best["value"] < worst["value"]:
        said += (
            f" {worst['system']} has the most ({percent(worst)} %), {best['system']} the fewest ({percent(best)} %)."
        )
    return said


def check_examples(run: Run, wanted: pl.Expr) -> pl.LazyFrame:
    """Every failure with its evidence and texts; the damage is its score."""
    segments = run.scan("segments").filter(wanted)
    found = run.scan("failures").filter(wanted).join(segments, on="row", how="left", maintain_order="left")
    return found.with_columns(
        pl.col("perturbation").fill_null("clean"),
        level=pl.lit(None, pl.Float64),
        replicate=pl.lit(0),
        drop=100 * pl.col("score"),
        text=pl.col("source"),
        original=pl.col("source"),
        before=pl.col("evidence"),
        after=pl.col("translation"),
        system=pl.col("system").fill_null("all"),
    )


FACETS = (("kind", "Kind of failure"), ("system", "System"), ("language_pair", "Language pair"), ("cell", "Source"))


def check_columns(run: Run, table: pl.DataFrame) -> dict[str, Any]:
    """Source, translation and what was seen in it."""
    short = short_names(table["system"])
    packed = Packed(table.with_columns(pl.col("system").replace(short)))
    packed.beside("Source", "text")
    packed.beside("Translation", "after")
    packed.beside("What was seen", "before")
    return packed.columns("how much of it there is, in %", FACETS)


PAGE = Page(check_tables, check_verdict, examples=Examples(check_examples, "system", check_columns))
