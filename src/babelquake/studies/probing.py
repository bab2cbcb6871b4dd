"""Perturb one side of judged segments and judge again: what the metric study and the QE study have in common.

Loops go over scorers outside and over blocks of segments inside: one model is in memory at a time, memory stays bounded
and a killed run continues at its last block.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from babelquake.engine import Engine, Progress, sharing
from babelquake.errors import UserError
from babelquake.languages import sides
from babelquake.perturb.suite import Suite
from babelquake.runs.chunks import list_column
from babelquake.runs.table_parts import Parts
from babelquake.scorers.base import Questions, Scorer
from babelquake.studies.blocks import Block, blocks_of
from babelquake.studies.error_spans import errors_marked
from babelquake.studies.final_marks import of_the_sample
from babelquake.studies.session import Session
from babelquake.studies.variants import Words, cell_columns, perturbed_blocks

TABLES = ("variants", "scores", "sums")
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

    def batch(self, part: pl.DataFrame, texts: Sequence[str], places: Places | None = None) -> Questions:
        """Judge these texts in place of the perturbed side of rows of `part`: those at `places`, or all in order."""

        def column(name: str, blank: str | None = None) -> list[Any]:
            values = part[name] if blank is None else part[name].fill_null(blank)
            return (values if places is None else values.gather(places)).to_list()

        sources = column("source", "")
        if self.side == "reference":
            return Questions(column("translation", ""), [[text] for text in texts], sources)
        return Questions(texts, None if part["references"].null_count() else column("references"), sources)

    def lang(self, pair: str | None) -> str | None:
        """The language of the texts of a pair."""
        return sides(pair)[0 if self.lang_side == "source" else 1]

    def variants(
        self, blocks: Sequence[Block], suite: Suite, seed: int, words: Words, engine: Engine
    ) -> Iterator[tuple[Block, pl.DataFrame]]:
        """Blocks with their perturbed texts: made now, or those that came with the data."""
        if self.given is not None:
            yield from ((block, _given(self.given, block, suite)) for block in blocks)
            return
        for block, made in perturbed_blocks(blocks, "text", suite, self.lang, seed, words, engine):
            yield block, of_the_sample(made, self.left_out)


def probe(session: Session, material: Material, words: Words) -> dict[str, pl.LazyFrame]:
    """Tables `variants`, `scores` (one row per judged text) and `sums` (replicates of a segment taken together)."""
    run, suite = session.run, session.perturbations
    session.words = words
    if all(run.has(table) for table in TABLES):
        return {table: run.scan(table) for table in TABLES}
    variants, scores, sums, spans = (run.parts(table) for table in (*TABLES, "spans"))
    blocks = blocks_of(material.segments, suite)
    wanted = [block for block in blocks if not variants.has(block.name)]
    with Progress("perturbing", sum(len(block.segments) for block in wanted), quiet=session.engine.quiet) as progress:
        for block, made in material.variants(wanted, suite, session.seed, words, session.engine):
            variants.store(block.name, made)
            progress.advance(block.segments.height)
    named = {id(scorer): f"{number:03d}" for number, scorer in enumerate(session.scorers)}
    marking = [scorer for scorer in session.scorers if scorer.marks_errors and material.side == "translation"]
    unjudged = {
        block.name: [scorer for scorer in session.scorers if not scores.has(f"{named[id(scorer)]}-{block.name}")]
        for block in blocks
    }
    _keep_within(session.engine, material, blocks, variants, unjudged)
    for group in sharing(session.scorers):
        for block in blocks:
            names = [f"{named[id(scorer)]}-{block.name}" for scorer in group]
            if all(scores.has(name) and sums.has(name) for name in names):
                continue
            rows = _judged(material, block, variants.read(block.name), group, session.engine)
            for name, (judged, summed) in zip(names, rows, strict=True):
                sums.store(name, summed)
                scores.store(name, judged)
        for scorer in group:
            if scorer in marking and not spans.has(named[id(scorer)]):
                judged = pl.concat(scores.read(f"{named[id(scorer)]}-{block.name}") for block in blocks)
                texts = pl.concat(variants.read(block.name) for block in blocks)
                spans.store(named[id(scorer)], errors_marked(session.engine, scorer, material, judged, texts))
            scorer.close()
    parts = [f"{name}-{block.name}" for name in named.values() for block in blocks]
    marked = {"spans": [named[id(scorer)] for scorer in marking]} if marking else {}
    found = run.join(variants=[block.name for block in blocks], scores=parts, sums=parts, **marked)
    return {table: found[table] for table in TABLES}


def _given(given: Given, block: Block, suite: Suite) -> pl.DataFrame:
    """Variants that came with the data; at level 0 a text is itself."""
    part = block.segments
    rows, parts = part["row"].to_list(), []
    for perturbation in suite.perturbations:
        texts = given.get(perturbation.cell)
        table = part.select(
            "row",
            "id",
            *cell_columns(*perturbation.cell),
            part["text"] if texts is None else pl.Series("text", [texts[row] for row in rows], pl.String),
            "language_pair",
        )
        parts.append(table.with_columns(changed=table["text"].ne_missing(part["text"])))
    return pl.concat(parts).drop_nulls("text")


def _judged(
    material: Material, block: Block, variants: pl.DataFrame, group: Sequence[Scorer], engine: Engine
) -> list[tuple[pl.DataFrame, pl.DataFrame]]:
    """By scorer: scores of a block's clean and perturbed texts, and per segment and perturbation their sum."""
    keys, questions = _asked(material, block, variants)
    segments, order, starts = _replicates(keys)
    found = []
    for scorer, statistics in zip(group, engine.judge_all(group, questions), strict=True):
        values = scorer.score_rows(statistics)
        named = pl.lit(scorer.name).alias("scorer")
        mean = np.add.reduceat(values[order], starts) / segments["replicates"].to_numpy()
        together = np.add.reduceat(statistics[order], starts, axis=0)
        scores = keys.drop("changed").with_columns(named, score=pl.Series(values, dtype=pl.Float64))
        summed = segments.with_columns(named, score=pl.Series(mean), statistics=list_column(together))
        found.append((scores, _answered(summed) if scorer.remote else summed))
    return found


def _answered(summed: pl.DataFrame) -> pl.DataFrame:
    """What a judge that may refuse did answer: a segment whose clean text has no score cannot be compared at all."""
    refused = pl.col("score").is_nan()
    lost = summed.filter(refused & pl.col("perturbation").is_null())["row"]
    return summed.filter(~refused, ~pl.col("row").is_in(lost.implode()))


def _asked(material: Material, block: Block, variants: pl.DataFrame) -> tuple[pl.DataFrame, Questions]:
    """The clean and the perturbed texts of a block: what they are, and what is asked of each."""
    part = block.segments
    clean = part.select("row", "id", "language_pair", *cell_columns(), pl.lit(False).alias("changed"), "text")
    everything = pl.concat([clean, variants.select(clean.columns)], how="vertical_relaxed")
    places = np.searchsorted(part["row"].to_numpy(), everything["row"].to_numpy())
    questions = material.batch(part, everything["text"].fill_null("").to_list(), places)
    return everything.drop("text"), questions


def _keep_within(
    engine: Engine,
    material: Material,
    blocks: Sequence[Block],
    variants: Parts,
    unjudged: Mapping[str, Sequence[Scorer]],
) -> None:
    """Refuse to begin what would send more characters to remote judges than the budget allows."""
    if engine.budget is None:
        return
    unsent: Counter[str] = Counter()
    for block in blocks:
        if remote := [scorer for scorer in unjudged[block.name] if scorer.remote]:
            _, questions = _asked(material, block, variants.read(block.name))
            for scorer in remote:
                unsent[scorer.name] += sum(one.characters for one in engine.unjudged(scorer, questions))
    if (total := unsent.total()) > engine.budget:
        where = ", ".join(f"{name} {characters:,}" for name, characters in unsent.items())
        raise UserError(
            f"{total:,} characters are still to be sent ({where}); --budget allows {engine.budget:,}. Nothing was "
            "sent. Allow more, or take fewer segments, perturbations or replicates."
        )


def _replicates(keys: pl.DataFrame) -> tuple[pl.DataFrame, Places, Places]:
    """One row per segment and perturbation; an order that puts its replicates side by side, and where each begins."""
    groups = keys.with_row_index("place").group_by(
        ["row", "id", "language_pair", "perturbation", "level"], maintain_order=True
    )
    table = groups.agg(pl.len().alias("replicates"), pl.col("changed").any(), pl.col("place"))
    lengths = table["replicates"].to_numpy().astype(np.intp)
    return table.drop("place"), table["place"].explode().to_numpy(), np.cumsum(lengths) - lengths
