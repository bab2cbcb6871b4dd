"""The page of `check`: which failures there are, how often, and the translations that have them."""

from typing import Any

import polars as pl

from babelquake.failures.base import description_of
from babelquake.report.pack import Packed
from babelquake.report.page import Examples, Page
from babelquake.report.results import results_of, short_names
from babelquake.report.table import Table, number, of
from babelquake.runs.results import Results, Row, values
from babelquake.runs.run import Run
from babelquake.studies.check.verdict import ANY, MOST_NAMED, flagged, of_systems


def check_tables(run: Run) -> list[Table]:
    """Per language pair: systems with their rates and commonest failures; then every kind, with the system it hits."""
    results = results_of(run)
    pairs = values(results.where("failures"), "language_pair")
    return [table for pair in pairs for table in (_systems(results, pair), _kinds(results, pair)) if table.rows]


def _systems(results: Results, pair: str | None) -> Table:
    rows = of_systems(results, pair, scorer=ANY)
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


def _commonest(results: Results, row: Row) -> list[Row]:
    same = {name: row[name] for name in ("language_pair", "system", "perturbation", "group")}
    found = [kind for kind in results.where("failures", **same) if kind["scorer"] != ANY and kind["value"]]
    return sorted(found, key=lambda kind: -kind["value"])[:MOST_NAMED]


def _kinds(results: Results, pair: str | None) -> Table:
    rows = [row for row in of_systems(results, pair) if row["scorer"] != ANY]
    lines = []
    for kind in values(rows, "scorer"):
        here = [row for row in rows if row["scorer"] == kind]
        count = flagged(here)
        total = sum(row["n"] for row in here)
        worst = max(here, key=lambda row: row["value"])
        if count:
            most = f"{worst['system']} {percent(worst)}" if worst["system"] and len(here) > 1 else ""
            lines.append((kind, description_of(kind), f"{count:,}", f"{100 * count / total:.2f}", most))
    lines.sort(key=lambda line: -float(line[3]))
    columns = ("kind", "what it is", "translations", "%", "most")
    return Table(f"Kinds of failure{of(pair)}", columns, tuple(lines), spare=("what it is", "most"))


def percent(row: Row) -> str:
    """A rate with two places."""
    return number(row["value"], 2)


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


PAGE = Page(
    check_tables, examples=Examples(check_examples, "system", check_columns, sides=("seen", "output"), titled_by="kind")
)
