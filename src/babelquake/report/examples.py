"""The sentences behind the numbers, worst first."""

import polars as pl

from babelquake.errors import UserError
from babelquake.report.table import Table, number
from babelquake.run import Run

SORTS = ("drop", "row")


def examples(run: Run) -> pl.LazyFrame:
    """Every judged variant with its damage: columns row, id, scorer, perturbation, level, text, before, after, drop …"""
    if run.info.study == "translation":
        return _translation_examples(run)
    return run.scan("examples")


def example_table(run: Run, most: int, sort: str = "drop") -> Table:
    """The first examples in the wanted order."""
    if sort not in SORTS:
        raise UserError(f"--sort {sort}: expected {' or '.join(SORTS)}.")
    found = examples(run)
    order = (
        found.sort("drop", descending=True, nulls_last=True, maintain_order=True)
        if sort == "drop"
        else found.sort("row")
    )
    rows = order.head(most).collect()
    shown = [name for name in ("system", "scorer", "perturbation", "level", "drop", "original", "text", "before", "after")
             if name in rows.columns]  # fmt: skip
    lines = tuple(tuple(_cell(row[name]) for name in shown) for row in rows.iter_rows(named=True))
    return Table("Examples", tuple(shown), lines)


def _translation_examples(run: Run) -> pl.LazyFrame:
    translations = run.scan("translations")
    clean = translations.filter(pl.col("perturbation").is_null()).select(
        "system", "row", pl.col("source").alias("original"), pl.col("judged").alias("before")
    )
    return (
        translations.filter(pl.col("perturbation").is_not_null())
        .join(clean, on=["system", "row"], how="left")
        .with_columns(drop=100 - pl.col("consistency"))
        .rename({"source": "text", "judged": "after"})
    )


def _cell(value: object) -> str:
    return number(value, 1) if isinstance(value, float) else "" if value is None else str(value)
