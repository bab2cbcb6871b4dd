"""Error spans of scorers that mark them – xCOMET, an LLM asked for errors – stored with the run.

Spans are kept for the texts that readers look at: for each such scorer the variants whose score moved most, and the
clean texts they come from. What the engine's answers and the scorers' memories hold is not asked again.
"""

from typing import TYPE_CHECKING

import polars as pl

from babelquake.scorers.base import Questions, Scorer

if TYPE_CHECKING:
    from babelquake.studies.probing import Material
    from babelquake.studies.session import Session

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


def mark_errors(session: "Session", material: "Material", tables: dict[str, pl.LazyFrame]) -> None:
    """Store the table `spans`, where a scorer marks errors and translations are what is perturbed."""
    markers = [scorer for scorer in session.scorers if scorer.marks_errors]
    if markers and material.side == "translation" and not session.run.has("spans"):
        session.once("spans", lambda: pl.concat([_marked(scorer, material, tables) for scorer in markers]))


def _marked(scorer: Scorer, material: "Material", tables: dict[str, pl.LazyFrame]) -> pl.DataFrame:
    chosen = _most_moved(scorer.name, tables["scores"])
    variants = tables["variants"].filter(pl.col("row").is_in(chosen["row"].unique().implode())).collect()
    texts = chosen.join(variants.select("row", *CELL, "text"), on=["row", *CELL], how="inner", maintain_order="left")
    own = material.segments.filter(pl.col("row").is_in(texts["row"].unique().implode()))
    clean = own.select(
        "row",
        pl.lit(None, pl.String).alias("perturbation"),
        pl.lit(None, pl.Float64).alias("level"),
        pl.lit(0, pl.UInt32).alias("replicate"),
        "text",
    )
    both = pl.concat([clean, texts.select(clean.columns)], how="vertical_relaxed").sort("row", maintain_order=True)
    places = own["row"].search_sorted(both["row"]).to_numpy()
    asked: Questions = material.batch(own, both["text"].to_list(), places)
    spans = [[span._asdict() for span in some] for some in scorer.spans(asked)]
    found = both.drop("text").with_columns(scorer=pl.lit(scorer.name), spans=pl.Series(spans, dtype=pl.List(SPAN)))
    return found.select([pl.col(name).cast(kind) for name, kind in SCHEMA.items()])


def _most_moved(scorer: str, scores: pl.LazyFrame) -> pl.DataFrame:
    """The variants whose score is farthest from that of the clean text."""
    own = scores.filter(pl.col("scorer") == scorer)
    clean = own.filter(pl.col("perturbation").is_null()).select("row", before="score")
    moved = (
        own.filter(pl.col("perturbation").is_not_null())
        .join(clean, on="row", how="left")
        .with_columns(moved=(pl.col("before") - pl.col("score")).abs())
    )
    return moved.sort(["moved", "row", *CELL], descending=[True, *[False] * 4], nulls_last=True).head(MOST).collect()
