"""What a study will do, as a value: segments → variants → translate → judge → detect.

A plan is made without doing any of it. `execution` carries it out, `forecast` counts what that costs and keeps budgets,
`exchange` writes out what others are to answer: all read the same plan. A new study is its options, its plan and what
it measures on the tables that come of it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from babelquake.data import Dataset
from babelquake.engine import Engine
from babelquake.languages import sides
from babelquake.perturb.context import ALONE
from babelquake.perturb.labels import REPEAT
from babelquake.perturb.suite import REWRITTEN, Suite
from babelquake.runs.run import Run
from babelquake.scorers.base import Questions, Scorer
from babelquake.studies.final_marks import of_the_sample
from babelquake.studies.inquiries import Asking
from babelquake.studies.options import Reset, RunOptions, Unit
from babelquake.studies.variants import (
    Block,
    Piece,
    Words,
    blocks_of,
    cell_columns,
    fillers_of,
    surroundings_of,
    variants_of,
)
from babelquake.systems import System

if TYPE_CHECKING:
    from babelquake.studies.forecast import Forecast, Unasked

Places = NDArray[np.integer[Any]]
Given = Mapping[tuple[str, float | None], Sequence[str]]
Systems = Mapping[str | None, Sequence[System]]
"""The systems of each language pair."""
Detect = Callable[[Block, pl.DataFrame, Engine], pl.DataFrame]
"""What is wrong with some translations: from a block and its rows of `translations`, rows of the table `failures`."""


@dataclass(frozen=True)
class Material:
    """Segments of which one column is perturbed: sources to translate, or texts that scorers judge.

    Columns: row, id, language_pair, source, references, and the column itself; for texts that are judged as they are,
    `text`, also translation and system.
    """

    segments: pl.DataFrame
    side: Literal["translation", "reference"]
    """What a perturbed text stands for when it is judged."""
    lang_side: Literal["source", "target"]
    """Which language of the pair the texts are in."""
    left_out: frozenset[int] = frozenset()
    """Rows to which `final-…` perturbations are not applied: those the split was not sampled from."""
    given: Given | None = None
    """Texts that somebody else perturbed, by label and level, one per row; None where they are made here."""
    column: str = "text"
    """What is perturbed: `source` and `prompt` are what systems are sent."""
    repeats: int = 1
    """How often systems are asked for each clean translation."""
    documents: bool = False
    """Whether the texts are documents, one sentence a line, perturbed sentence by sentence."""

    def batch(self, part: pl.DataFrame, texts: Sequence[str], places: Places | None = None) -> Questions:
        """Judge these texts in place of the perturbed side of rows of `part`: those at `places`, or all in order."""

        def column(name: str, blank: str | None = None) -> list[Any]:
            values = part[name] if blank is None else part[name].fill_null(blank)
            return (values if places is None else values.gather(places)).to_list()

        sources = column("source", "")
        if self.side == "reference":
            return Questions(column("translation", ""), [[text] for text in texts], sources)
        return Questions(texts, None if part["references"].null_count() else column("references"), sources)

    def asking(self, system: System) -> Asking:
        """How a system is asked about its texts."""
        return Asking(system, self.column, self.documents, self.repeats)

    def lang(self, pair: str | None) -> str | None:
        """The language of the texts of a pair; instructions are in the language that they say."""
        if self.column == "prompt":
            return next(iter(self.segments["prompt_language"]), None)
        return sides(pair)[0 if self.lang_side == "source" else 1]

    def variants(
        self, blocks: Sequence[Block], suite: Suite, seed: int, words: Words, engine: Engine
    ) -> Iterator[tuple[Block, pl.DataFrame]]:
        """Blocks with their perturbed texts: those that came with the data, or made now.

        They are made by the engine's workers, or here where a model is asked.
        """
        if self.given is not None:
            yield from ((block, _given(self.given, block, suite)) for block in blocks)
            return
        near = surroundings_of(self.segments, self.column, suite, engine)
        make = partial(variants_of, self.column, suite, seed, self.documents)

        def piece(block: Block) -> Piece:
            pair = block.language_pair
            beside = [near.get(row, ALONE) for row in block.segments["row"]] if near else None
            return Piece(block, self.lang(pair), words.get(pair), beside)

        found: Iterable[tuple[Block, pl.DataFrame]]
        if suite.asks:
            fillers = fillers_of(engine)
            found = ((block, make(piece(block), fillers)) for block in blocks)
        else:
            pieces = (piece(block).only(self.column) for block in blocks)
            found = ((blocks[place], made) for place, made in engine.spread(make, pieces))
        for block, made in found:
            yield block, self._with_repeats(block, of_the_sample(made, self.left_out))

    def _with_repeats(self, block: Block, variants: pl.DataFrame) -> pl.DataFrame:
        """The variants, and the clean texts again for each time that they are asked again."""
        text = pl.col(self.column).fill_null("").alias("text")
        again = [
            block.segments.select(
                "row", "id", *cell_columns(REPEAT), text, "language_pair", pl.lit(True).alias("changed")
            ).with_columns(replicate=pl.lit(number, pl.UInt32))
            for number in range(self.repeats - 1)
        ]
        return pl.concat([variants, *(one.select(variants.columns) for one in again)], how="vertical_relaxed")

    def paired(self, block: Block, variants: pl.DataFrame) -> pl.DataFrame:
        """The clean texts of a block, then its variants: row, id, language_pair, which variant, `changed`, `text`.

        Where variants bring their source and reference, these columns too.
        """
        text = pl.col(self.column).fill_null("").alias("text")
        brought = [pl.lit(None, kind).alias(name) for name, kind in REWRITTEN.items() if name in variants.columns]
        clean = block.segments.select(
            "row", "id", "language_pair", *cell_columns(), pl.lit(False).alias("changed"), text, *brought
        )
        return pl.concat([clean, variants.select(clean.columns)], how="vertical_relaxed")

    def questions(self, block: Block, paired: pl.DataFrame) -> Questions:
        """What scorers are asked of clean and perturbed texts of a block."""
        places = np.searchsorted(block.segments["row"].to_numpy(), paired["row"].to_numpy())
        asked = self.batch(block.segments, paired["text"].to_list(), places)
        return _with_own(asked, paired) if "own_source" in paired.columns else asked


@dataclass(frozen=True)
class Plan:
    """What a study will do."""

    study: str
    options: RunOptions
    data: Dataset
    scorers: Sequence[Scorer]
    suite: Suite | None = None
    material: Material | None = None
    """What is perturbed; None where a study judges what the data have."""
    words: Words = field(default_factory=dict)
    """Words of the texts themselves, where perturbations draw from these."""
    systems: Systems | None = None
    """Who translates; None where nothing is translated."""
    reset: Reset = "never"
    """Which final marks of translations are undone before they are judged."""
    detect: Detect | None = None
    beside: Callable[[], Iterable[Questions]] = tuple
    """What scorers are asked beside clean and perturbed texts of the material."""
    with_references: bool = True
    """Whether what is exported for scorers elsewhere has references."""
    searches: int | None = None
    """Attacks on single sentences, which ask as they go."""
    shared_questions: int = 0
    """What attacks ask beside that, at most, for what they search for all sentences together."""
    local: Callable[[], "Iterable[Unasked]"] = tuple
    """What this machine looks at without a system or scorer, and how long that takes."""
    notes: tuple[str, ...] = ()
    """What readers of the results must know."""
    unit: Unit = "segment"
    """What is resampled."""

    def blocks(self) -> list[Block]:
        """The material in pieces that fit into memory."""
        return [] if self.material is None else blocks_of(self.material.segments, self.perturbations)

    @property
    def seed(self) -> int:
        """Of what is perturbed; studies that draw nothing have none."""
        return getattr(self.options, "seed", 0)

    @property
    def segments(self) -> pl.DataFrame:
        """What is perturbed, or all segments of the data where nothing is."""
        return self.data.segments if self.material is None else self.material.segments

    @property
    def perturbed(self) -> Material:
        """The material of a study that has one."""
        if self.material is None:
            raise ValueError(f"the plan of {self.study} perturbs nothing")
        return self.material

    @property
    def perturbations(self) -> Suite:
        """The suite; an empty one where all variants are given."""
        return self.suite if self.suite is not None else Suite("", ())

    def variants(self, engine: Engine, blocks: Sequence[Block] | None = None) -> Iterator[tuple[Block, pl.DataFrame]]:
        """Blocks with their perturbed texts, as they are made."""
        if self.material is not None:
            chosen = self.blocks() if blocks is None else blocks
            yield from self.material.variants(chosen, self.perturbations, self.seed, self.words, engine)

    def questions(self, engine: Engine) -> Iterator[Questions]:
        """Everything that scorers are asked, where nothing has to be translated before."""
        yield from self.beside()
        if self.material is not None and self.systems is None:
            for block, variants in self.variants(engine):
                yield self.material.questions(block, self.material.paired(block, variants))

    def forecast(self) -> "Forecast":
        """What is still to be asked of every system and scorer, with time and money as far as they are known."""
        from babelquake.studies.forecast import forecast

        with self.options.settings():
            return forecast(self)

    def export(self, folder: Path | str) -> tuple[Path, int]:
        """Write what systems or scorers elsewhere are to answer; where it is, and how many texts there are."""
        from babelquake.studies.exchange import export

        with self.options.settings():
            return export(self, Path(folder))

    def submit(self, folder: Path | str) -> list[Path]:
        """Judge the data as they are and write the scores as mt-metrics-eval reads them, for a shared task."""
        from babelquake.studies.exchange import submit_scores

        with self.options.settings():
            return submit_scores(self.options, folder)

    def run(self, **changed: Any) -> Run:
        """Carry it out: `plan.run(out="runs/typos")`; `changed` are options that are other than planned."""
        from babelquake.studies.card import function_of

        options = replace(self.options, **changed)
        return function_of(self.study)(**vars(options))


def _with_own(asked: Questions, paired: pl.DataFrame) -> Questions:
    """The questions with the sources and references that variants bring."""
    sources, references = asked.sources, asked.references
    if sources is not None:
        sources = [own if own is not None else given for own, given in zip(paired["own_source"], sources, strict=True)]
    if references is not None:
        brought = zip(paired["own_reference"], references, strict=True)
        references = [[own] if own is not None else given for own, given in brought]
    return Questions(asked.translations, references, sources)


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
