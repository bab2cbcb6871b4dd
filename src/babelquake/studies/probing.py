"""Perturb one side of judged segments and judge again: what the metric study and the QE study have in common.

The work goes block by block of segments, so that memory stays bounded and a killed run continues at its last block.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from babelquake.engine import Engine, Progress
from babelquake.perturb.suite import Suite
from babelquake.runs.run import Run
from babelquake.scorers.base import Questions, Scorer
from babelquake.studies.tables import languages, list_column, vocabularies

BLOCK_TEXTS = 40_000
"""Perturbed texts in one block."""
Places = NDArray[np.integer[Any]]
Given = Mapping[tuple[str, float | None], Sequence[str]]


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
    given: Given | None = None
    """Texts that somebody else perturbed, by label and level, one per row; None where they are made here."""

    def batch(self, part: pl.DataFrame, texts: Sequence[str], places: Sequence[int] | None = None) -> Questions:
        """Judge these texts in place of the perturbed side of rows of `part`: those at `places`, or all in order."""

        def column(name: str, blank: str | None = None) -> list[Any]:
            values = part[name].to_list() if blank is None else part[name].fill_null(blank).to_list()
            return values if places is None else [values[place] for place in places]

        sources = column("source", "")
        if self.side == "reference":
            return Questions(column("translation", ""), [[text] for text in texts], sources)
        return Questions(texts, None if part["references"].null_count() else column("references"), sources)

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
    words = vocabularies(segments, "text", material.lang) if wants_words else {}
    with Progress("judging", segments.height, quiet=engine.quiet) as progress:

        def make(block: int) -> dict[str, pl.DataFrame]:
            part = segments[block * size : (block + 1) * size]
            given = material.given
            variants = _made(material, part, changes, seed, words) if given is None else _given(given, part, changes)
            scores, sums = _judged(material, part, variants, judges, engine)
            progress.advance(part.height)
            return {"variants": variants, "scores": scores, "sums": sums}

        return run.in_blocks(("variants", "scores", "sums"), blocks, make)


def _made(
    material: Material, part: pl.DataFrame, changes: Suite, seed: int, words: Mapping[str | None, Sequence[str]]
) -> pl.DataFrame:
    parts = []
    for (pair,), some in part.group_by("language_pair", maintain_order=True):
        table = changes.variants(
            some["id"].to_list(),
            some["text"].fill_null("").to_list(),
            lang=material.lang(pair),
            seed=seed,
            sources=some["source"].to_list(),
            vocabulary=words.get(material.lang(pair)),
        )
        rows = some["row"].to_numpy()[table["row"].to_numpy()]
        parts.append(table.with_columns(row=pl.Series(rows), language_pair=pl.lit(pair, pl.String)))
    found = pl.concat(parts).drop_nulls("text")
    if material.left_out:
        unsampled = pl.col("row").is_in(list(material.left_out)) & pl.col("perturbation").str.starts_with("final-")
        found = found.filter(~unsampled)
    return found


def _given(given: Given, part: pl.DataFrame, changes: Suite) -> pl.DataFrame:
    """Variants that came with the data; at level 0 a text is itself."""
    rows, parts = part["row"].to_list(), []
    for change in changes.perturbations:
        texts = given.get((change.label, change.level))
        parts.append(
            part.select(
                "row",
                "id",
                pl.lit(change.label, pl.String).alias("perturbation"),
                pl.lit(change.level, pl.Float64).alias("level"),
                pl.lit(0, pl.UInt32).alias("replicate"),
                part["text"] if texts is None else pl.Series("text", [texts[row] for row in rows], pl.String),
                "language_pair",
            )
        )
    return pl.concat(parts).drop_nulls("text")


def _judged(
    material: Material, part: pl.DataFrame, variants: pl.DataFrame, judges: Sequence[Scorer], engine: Engine
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Scores of a block's clean and perturbed texts, and per segment and perturbation the sum over replicates."""
    clean = part.select(
        "row", "id", "language_pair", pl.lit(None, pl.String).alias("perturbation"),
        pl.lit(None, pl.Float64).alias("level"), pl.lit(0, pl.UInt32).alias("replicate"), "text",
    )  # fmt: skip
    everything = pl.concat([clean, variants.select(clean.columns)], how="vertical_relaxed")
    places = (everything["row"] - int(part["row"][0])).to_list() if part.height else []
    batch = material.batch(part, everything["text"].fill_null("").to_list(), places)
    keys = everything.drop("text")
    segments, order, starts = _replicates(keys)
    scores, sums = [], []
    for judge in judges:
        statistics = engine.judge(judge, batch)
        values = judge.score_rows(statistics)
        named = pl.lit(judge.name).alias("scorer")
        scores.append(keys.with_columns(named, score=pl.Series(values, dtype=pl.Float64)))
        together = np.add.reduceat(statistics[order], starts, axis=0)
        mean = np.add.reduceat(values[order], starts) / segments["replicates"].to_numpy()
        sums.append(segments.with_columns(named, score=pl.Series(mean), statistics=list_column(together)))
    return pl.concat(scores), pl.concat(sums)


def _replicates(keys: pl.DataFrame) -> tuple[pl.DataFrame, Places, Places]:
    """One row per segment and perturbation; an order that puts its replicates side by side, and where each begins."""
    groups = keys.with_row_index("place").group_by(
        ["row", "id", "language_pair", "perturbation", "level"], maintain_order=True
    )
    table = groups.agg(pl.len().alias("replicates"), pl.col("place"))
    lengths = table["replicates"].to_numpy().astype(np.intp)
    return table.drop("place"), table["place"].explode().to_numpy(), np.cumsum(lengths) - lengths
