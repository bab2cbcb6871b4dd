"""Error spans of scorers that mark them – xCOMET, an LLM asked for errors – stored with the run.

Spans are kept for the texts that readers look at: for each such scorer the variants whose score moved most, and the
clean texts they come from. What the engine's answers and the scorers' memories hold is not asked again.
"""

from typing import TYPE_CHECKING

import polars as pl

from babelquake.engine import Engine
from babelquake.scorers.base import Questions, Scorer
from babelquake.studies.variants import cell_columns

if TYPE_CHECKING:
    from babelquake.studies.plan import Material

MOST = 200
"""Variants per scorer whose spans are kept."""
CELL = ["perturbation", "level", "replicate"]
SPAN = pl.Struct(
    {"text": pl.String, "severity": pl.String, "start": pl.Int64, "end": pl.Int64, "confidence": pl.Float64}
)
SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "row": pl.UInt32,
    "scorer": pl.String,
    "perturbation": pl.String,
    "level": pl.Float64,
    "replicate": pl.UInt32,
    "spans": pl.List(SPAN),
}


def errors_marked(
    engine: Engine, scorer: Scorer, material: "Material", scores: pl.DataFrame, variants: pl.DataFrame
) -> pl.DataFrame:
    """A scorer's part of the table `spans`, from its scores of a run and the texts that were perturbed."""
    chosen = _most_moved(scores)
    if "own_source" in variants.columns:
        variants = variants.filter(pl.col("own_source").is_null())
    texts = chosen.join(
        variants.select("row", *CELL, "text"), on=["row", *CELL], how="inner", nulls_equal=True, maintain_order="left"
    )
    own = material.segments.filter(pl.col("row").is_in(texts["row"].unique().implode()))
    clean = own.select("row", *cell_columns(), "text")
    both = pl.concat([clean, texts.select(clean.columns)], how="vertical_relaxed").sort("row", maintain_order=True)
    places = own["row"].search_sorted(both["row"]).to_numpy()
    asked: Questions = material.batch(own, both["text"].to_list(), places)
    spans = [[span._asdict() for span in some] for some in engine.mark(scorer, asked)]
    found = both.drop("text").with_columns(scorer=pl.lit(scorer.name), spans=pl.Series(spans, dtype=pl.List(SPAN)))
    return found.select([pl.col(name).cast(kind) for name, kind in SCHEMA.items()])


def _most_moved(scores: pl.DataFrame) -> pl.DataFrame:
    """The variants whose score is farthest from that of the clean text; those without a score have nothing marked."""
    clean = scores.filter(pl.col("perturbation").is_null()).select("row", before="score")
    moved = (
        scores.filter(pl.col("perturbation").is_not_null() & pl.col("score").is_not_nan())
        .join(clean, on="row", how="left")
        .with_columns(moved=(pl.col("before") - pl.col("score")).abs().fill_nan(None))
    )
    return moved.sort(["moved", "row", *CELL], descending=[True, *[False] * 4], nulls_last=True).head(MOST)
