"""Perturb one side of judged segments and judge again: what the metric study and the QE study have in common.

The work goes block by block of segments, so that memory stays bounded and a killed run continues at its last block.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from babelquake.engine import Engine, Progress
from babelquake.perturb.linguistics import vocabulary_of
from babelquake.perturb.suite import Suite
from babelquake.run import Run
from babelquake.scorers.base import Array, Batch, Scorer
from babelquake.studies.tables import languages, list_column

BLOCK_TEXTS = 40_000
"""Perturbed texts in one block."""
CELL = ["scorer", "perturbation", "level"]


@dataclass(frozen=True)
class Material:
    """Segments whose column `text` is perturbed, standing for the translation or for the reference when judged.

    Columns: row, id, language_pair, system, text, source, translation, references.
    """

    segments: pl.DataFrame
    side: Literal["translation", "reference"]
    lang_side: Literal["source", "target"]
    """Which language of the pair the texts are in."""
    left_out: frozenset[int] = frozenset()
    """Rows to which `final-…` perturbations are not applied: those the split was not sampled from."""

    def batch(self, rows: Sequence[int], texts: Sequence[str]) -> Batch:
        """Judge these texts in place of the perturbed side of these rows."""
        part = self.segments[rows]
        sources = part["source"].fill_null("").to_list()
        if self.side == "reference":
            return Batch(part["translation"].fill_null("").to_list(), [[text] for text in texts], sources)
        references = part["references"]
        given = None if references.null_count() else references.to_list()
        return Batch(texts, given, sources)

    def lang(self, pair: str | None) -> str | None:
        """The language of the texts of a pair."""
        return languages(pair)[0 if self.lang_side == "source" else 1]


def probe(
    run: Run, material: Material, changes: Suite, judges: Sequence[Scorer], engine: Engine, seed: int
) -> dict[str, pl.LazyFrame]:
    """Tables `variants`, `scores` (one row per judged text) and `sums` (replicates of a segment taken together)."""
    segments = material.segments
    per_segment = sum(changes.repeats(change) for change in changes.perturbations)
    size = max(1, BLOCK_TEXTS // max(1, per_segment))
    blocks = max(1, -(-segments.height // size))
    wants_words = any("vocabulary" in change.card.wants for change in changes.perturbations)
    vocabulary = vocabulary_of(segments["text"].fill_null("")) if wants_words else None
    with Progress("judging", segments.height, quiet=engine.quiet) as progress:

        def make(block: int) -> dict[str, pl.DataFrame]:
            part = segments[block * size : (block + 1) * size]
            variants = _variants(material, part, changes, seed, vocabulary)
            judged = [_judged(material, part, variants, judge, engine) for judge in judges]
            scores = pl.concat([scores for scores, _ in judged])
            sums = pl.concat([sums for _, sums in judged])
            progress.advance(part.height)
            return {"variants": variants, "scores": scores, "sums": sums}

        return run.in_blocks(("variants", "scores", "sums"), blocks, make)


def _variants(
    material: Material, part: pl.DataFrame, changes: Suite, seed: int, vocabulary: Sequence[str] | None
) -> pl.DataFrame:
    parts = []
    for (pair,), some in part.group_by("language_pair", maintain_order=True):
        table = changes.variants(
            some["id"].to_list(),
            some["text"].fill_null("").to_list(),
            lang=material.lang(pair),
            seed=seed,
            sources=some["source"].to_list(),
            vocabulary=vocabulary,
        )
        rows = some["row"].to_numpy()[table["row"].to_numpy()]
        parts.append(table.with_columns(row=pl.Series(rows), language_pair=pl.lit(pair, pl.String)))
    found = pl.concat(parts).drop_nulls("text")
    if material.left_out:
        unsampled = pl.col("row").is_in(list(material.left_out)) & pl.col("perturbation").str.starts_with("final-")
        found = found.filter(~unsampled)
    return found


def _judged(
    material: Material, part: pl.DataFrame, variants: pl.DataFrame, judge: Scorer, engine: Engine
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Scores of a block's clean and perturbed texts, and per segment and perturbation the sum over replicates."""
    clean = part.select(
        "row", "id", "language_pair", pl.lit(None, pl.String).alias("perturbation"),
        pl.lit(None, pl.Float64).alias("level"), pl.lit(0, pl.UInt32).alias("replicate"), "text",
    )  # fmt: skip
    everything = pl.concat([clean, variants.select(clean.columns)], how="vertical_relaxed")
    batch = material.batch(everything["row"].to_list(), everything["text"].fill_null("").to_list())
    statistics = engine.statistics(judge, batch)
    keys = everything.drop("text").with_columns(scorer=pl.lit(judge.name))
    scores = keys.with_columns(score=pl.Series(judge.score_rows(statistics), dtype=pl.Float64))
    return scores, _summed(scores, statistics)


def _summed(scores: pl.DataFrame, statistics: Array) -> pl.DataFrame:
    """One row per segment and perturbation: summed statistics and the mean score of its replicates."""
    keys = ["row", "id", "language_pair", *CELL]
    groups = scores.with_row_index("place").group_by(keys, maintain_order=True)
    table = groups.agg(pl.col("score").mean(), pl.len().alias("replicates"), pl.col("place"))
    order = table["place"].explode().to_numpy()
    lengths = table["replicates"].to_numpy().astype(np.intp)
    starts = np.cumsum(lengths) - lengths
    sums = np.add.reduceat(statistics[order], starts, axis=0)
    return table.drop("place").with_columns(statistics=list_column(sums))
