"""The sentences behind the numbers, worst first."""

import polars as pl

from babelquake.errors import UserError
from babelquake.report.table import Table, number
from babelquake.runs.run import Run

SORTS = ("drop", "row")
SHOWN = ("system", "scorer", "perturbation", "level", "drop", "original", "text", "before", "after")
CELL = ["perturbation", "level", "replicate"]


def examples(run: Run) -> pl.LazyFrame:
    """Every judged variant with its damage: columns row, id, perturbation, level, before, after, drop …

    In the MT study `before` and `after` are translations; elsewhere they are scores, and `with_texts` adds the
    perturbed `text` and the `original` of those that are shown: a large run has too many to join them all.
    """
    if run.info.study == "translation":
        return _translation_examples(run)
    if run.has("variants"):
        return _judged_examples(run)
    return _challenge_examples(run)


def with_texts(run: Run, chosen: pl.DataFrame) -> pl.DataFrame:
    """Chosen examples with the perturbed text and the clean one."""
    if "text" in chosen.columns:
        return chosen
    rows = chosen["row"].unique().implode()
    variants = run.scan("variants").filter(pl.col("row").is_in(rows)).select("row", *CELL, "text").collect()
    originals = _originals(run).filter(pl.col("row").is_in(rows)).collect()
    return chosen.join(variants, on=["row", *CELL], how="left", nulls_equal=True, maintain_order="left").join(
        originals, on="row", how="left", maintain_order="left"
    )


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
    rows = with_texts(run, order.head(most).collect())
    shown = [name for name in SHOWN if name in rows.columns]
    lines = tuple(tuple(_cell(row[name]) for name in shown) for row in rows.iter_rows(named=True))
    return Table("Examples", tuple(shown), lines)


def _translation_examples(run: Run) -> pl.LazyFrame:
    translations = run.scan("translations")
    clean = translations.filter(pl.col("perturbation").is_null()).select(
        "system", "row", pl.col("source").alias("original"), pl.col("judged").alias("before")
    )
    return (
        translations.filter(pl.col("perturbation").is_not_null())
        .join(clean, on=["system", "row"], how="left", maintain_order="left")
        .with_columns(drop=100 - pl.col("consistency"))
        .rename({"source": "text", "judged": "after"})
    )


def _judged_examples(run: Run) -> pl.LazyFrame:
    """Scores of perturbed texts beside those of the clean ones; the damage is what the score lost."""
    scores = run.scan("scores")
    who = [name for name in ("scorer", "system", "row") if name in scores.collect_schema()]
    clean = scores.filter(pl.col("perturbation").is_null()).select(*who, pl.col("score").alias("before"))
    return (
        scores.filter(pl.col("perturbation").is_not_null())
        .rename({"score": "after"})
        .join(clean, on=who, how="left", nulls_equal=True, maintain_order="left")
        .with_columns(drop=_damage(run))
    )


def _damage(run: Run) -> pl.Expr:
    """What the score lost; of scorers that count errors, what it gained."""
    errors = [str(name) for name in run.info.facts.get("lower_is_better", [])]
    lost = pl.col("before") - pl.col("after")
    return pl.when(pl.col("scorer").is_in(errors)).then(-lost).otherwise(lost)


def _challenge_examples(run: Run) -> pl.LazyFrame:
    """Triples of a challenge set, whose perturbed translations came with the data."""
    segments = run.scan("segments").select(
        "row", pl.col("translation").alias("original"), pl.col("perturbed").alias("text")
    )
    return (
        run.scan("scores")
        .rename({"score": "before", "score_perturbed": "after", "phenomenon": "perturbation"})
        .join(segments, on="row", how="left", maintain_order="left")
        .with_columns(level=pl.lit(None, pl.Float64), drop=_damage(run))
    )


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
