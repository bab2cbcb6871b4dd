"""The sentences behind the numbers, worst first."""

import polars as pl

from babelquake.errors import UserError, setting
from babelquake.report.page import Examples, page_of
from babelquake.report.table import Table, number
from babelquake.runs.run import AnyRun, Run, opened

SORTS = ("drop", "row")
EVERY = pl.lit(True)
"""No row is left out."""
CELL = ["perturbation", "level", "replicate"]
THAN = [f"than_{name}" for name in CELL]
"""The cell that a perturbed text is compared with, in place of the clean text."""


def examples(run: AnyRun) -> pl.LazyFrame:
    """Every judged variant with its damage: columns row, id, perturbation, level, before, after, drop …

    `with_texts` adds the perturbed `text` and the `original` of those that are shown: a large run has too many to join
    them all.
    """
    (given,) = opened(run)
    return _of(given).rows(given, EVERY)


def _of(run: Run) -> Examples:
    found = page_of(run).examples
    if found is None:
        raise UserError(f"a {run.info.study} run has no examples.")
    return found


def with_texts(run: Run, chosen: pl.DataFrame) -> pl.DataFrame:
    """Chosen examples with the perturbed text and the one that it is compared with."""
    if "text" in chosen.columns:
        return chosen
    chosen = chosen.with_columns(pl.col("level").cast(pl.Float64))  # null where no perturbation has a level
    rows = chosen["row"].unique().implode()
    variants = run.scan("variants").filter(pl.col("row").is_in(rows)).select("row", *CELL, "text").collect()
    originals = _originals(run).filter(pl.col("row").is_in(rows)).collect()
    found = chosen.join(variants, on=["row", *CELL], how="left", nulls_equal=True, maintain_order="left").join(
        originals, on="row", how="left", maintain_order="left"
    )
    if set(THAN) <= set(found.columns):
        than = variants.select(
            "row", *(pl.col(name).alias(to) for name, to in zip(CELL, THAN, strict=True)), than="text"
        )
        found = found.join(than, on=["row", *THAN], how="left", nulls_equal=True, maintain_order="left")
        found = found.with_columns(original=pl.coalesce("than", "original")).drop("than")
    return _with_errors(run, found) if run.has("spans") else found


def _with_errors(run: Run, chosen: pl.DataFrame) -> pl.DataFrame:
    """What the scorer itself marked as wrong in the perturbed text, where it was kept."""
    one = pl.element().struct
    words = pl.format("{} “{}”", one.field("severity"), one.field("text"))
    marked = run.scan("spans").select("row", "scorer", *CELL, errors=pl.col("spans").list.eval(words).list.join(", "))
    marked = marked.with_columns(errors=pl.when(pl.col("errors") == "").then(pl.lit("none")).otherwise("errors"))
    keys = ["row", "scorer", *CELL]
    found = chosen.join(marked.collect(), on=keys, how="left", nulls_equal=True, maintain_order="left")
    return found.with_columns(errors=pl.when(pl.col("after").is_not_null()).then("errors"))  # who refused said nothing


def example_table(run: AnyRun, most: int = 20, sort: str = "drop") -> Table:
    """The first examples in the wanted order."""
    if sort not in SORTS:
        raise UserError(f"{setting('sort', sort)}: expected {' or '.join(SORTS)}.")
    (given,) = opened(run)
    headings, found = _of(given).listed, examples(given)
    order = (
        found.sort("drop", descending=True, nulls_last=True, maintain_order=True)
        if sort == "drop"
        else found.sort("row")
    )
    rows = with_texts(given, order.head(most).collect())
    shown = [name for name in headings if name in rows.columns and rows[name].null_count() < rows.height]
    lines = tuple(tuple(_cell(row[name]) for name in shown) for row in rows.iter_rows(named=True))
    return Table("Examples", tuple(headings[name] for name in shown), lines)


def _originals(run: Run) -> pl.LazyFrame:
    """The clean texts: the column the study perturbed."""
    segments = run.scan("segments")
    columns = segments.collect_schema()
    if "row" not in columns:
        segments = segments.with_row_index("row")
    if "text" in columns:
        text = pl.col("text")
    elif run.info.config.get("side") == "reference":
        text = pl.col("references").list.first()
    else:
        text = pl.col(str(run.info.config.get("side", "translation")))
    return segments.select("row", text.alias("original"))


def _cell(value: object) -> str:
    return number(value, 1) if isinstance(value, float) else "" if value is None else str(value)
