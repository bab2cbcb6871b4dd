"""The tables of the MT study: variants, translations and scores, made block by block in bounded memory.

Loops go over systems and scorers outside, over blocks of segments inside, so that one model is in memory at a time.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing

import numpy as np
import polars as pl

from babelquake.engine import Engine, in_turn
from babelquake.languages import sides
from babelquake.perturb.base import card_of
from babelquake.runs.chunks import list_column
from babelquake.scorers import Questions, Scorer
from babelquake.scorers.strings.chrf import ChrF
from babelquake.studies.blocks import Block, blocks_of
from babelquake.studies.final_marks import of_the_sample
from babelquake.studies.mt.options import Reset
from babelquake.studies.mt.reset import RESETS
from babelquake.studies.mt.sources import source_language
from babelquake.studies.mt.what_changed import kind_of_change
from babelquake.studies.resolve import given_references
from babelquake.studies.session import Session
from babelquake.studies.variants import perturbed_blocks, vocabularies
from babelquake.systems import System
from babelquake.systems.stored import Stored

TABLES = ("variants", "translations", "scores")
KEYS = ("system", "language_pair", "row", "id", "perturbation", "level", "replicate")
Systems = Mapping[str | None, Sequence[System]]
"""The systems of each language pair."""


def make_tables(
    session: Session, segments: pl.DataFrame, systems: Systems, reset: Reset, left_out: frozenset[int]
) -> dict[str, pl.LazyFrame]:
    """Perturb, translate and judge; whatever is finished is read back. `left_out` was not sampled for final marks."""
    run, suite = session.run, session.perturbations
    words = session.words = vocabularies(segments, "source", suite, source_language)
    if all(run.has(table) for table in TABLES):
        return {table: run.scan(table) for table in TABLES}
    blocks = blocks_of(segments, suite)
    labels = frozenset(perturbation.label for perturbation in suite.perturbations)
    variants, translations, scores = (run.parts(table) for table in TABLES)
    wanted = [block for block in blocks if not variants.has(block.name)]
    made = perturbed_blocks(wanted, "source", suite, source_language, session.seed, words, session.engine)
    for block, noisy in made:
        variants.store(block.name, of_the_sample(noisy, left_out))
    translated: list[tuple[str, Block]] = []
    for pair, here in systems.items():
        for number, system in enumerate(here):
            with closing(system):
                for block in blocks:
                    if block.language_pair == pair:
                        name = f"{number:03d}-{block.name}"
                        if not translations.has(name):
                            noisy = variants.read(block.name)
                            translations.store(name, _translated(system, block, noisy, reset, labels, session.engine))
                        translated.append((name, block))
    named = {id(scorer): f"{number:03d}" for number, scorer in enumerate(session.scorers)}
    for scorer in in_turn(session.scorers):
        for name, block in translated:
            part = f"{named[id(scorer)]}-{name}"
            if not scores.has(part):
                scores.store(part, _judged(scorer, block, translations.read(name), session.engine))
    return run.join(
        variants=[block.name for block in blocks],
        translations=[name for name, _ in translated],
        scores=[f"{number}-{name}" for number in named.values() for name, _ in translated],
    )


def _translated(
    system: System, block: Block, noisy: pl.DataFrame, reset: Reset, made: frozenset[str], engine: Engine
) -> pl.DataFrame:
    """One system's translations of a block's clean sources, then of the perturbed ones; `made` are the suite's."""
    segments = block.segments
    if isinstance(system, Stored):
        segments, noisy = system.known(segments, noisy)
    sources = dict(zip(segments["row"], segments["source"].fill_null(""), strict=True))
    if isinstance(system, Stored):
        everything = [*system.of_clean(list(sources)), *system.of_variants(noisy)]
    else:
        everything = engine.translate(system, [*sources.values(), *noisy["text"]])
    clean = dict(zip(sources, everything[: len(sources)], strict=True))
    raw = everything[len(sources) :]
    resets = {name: _resets(name, reset, made) for name in noisy["perturbation"].unique()}
    judged = [
        RESETS[reset](text, clean[row], changed, sources[row]) if resets[name] else text
        for text, row, name, changed in zip(raw, noisy["row"], noisy["perturbation"], noisy["text"], strict=True)
    ]
    against = [clean[row] for row in noisy["row"]]
    target = sides(block.language_pair)[1]
    kinds = [
        kind_of_change(before, after, changed, target)
        for before, after, changed in zip(against, judged, noisy["text"], strict=True)
    ]
    named = pl.lit(system.name).alias("system")
    before = segments.select(named, "language_pair", "row", "id", "source").with_columns(
        translation=pl.Series(list(clean.values()), dtype=pl.String),
        judged=pl.Series(list(clean.values()), dtype=pl.String),
    )
    after = noisy.select(
        named,
        "language_pair",
        "row",
        "id",
        "perturbation",
        "level",
        "replicate",
        pl.col("text").alias("source"),
        "changed",
    ).with_columns(
        translation=pl.Series(raw, dtype=pl.String),
        judged=pl.Series(judged, dtype=pl.String),
        change=pl.Series(kinds, dtype=pl.String),
        consistency=pl.Series(ChrF().segments(judged, against), dtype=pl.Float64),
    )
    return pl.concat([before, after], how="diagonal")


def _resets(label: str, reset: Reset, made: frozenset[str]) -> bool:
    """Whether final marks are reset: by default those that a perturbation of punctuation changed."""
    if reset in ("auto", "paper"):
        return label in made and card_of(label.partition("[")[0]).family == "punctuation"
    return reset == "always"


def _judged(scorer: Scorer, block: Block, translations: pl.DataFrame, engine: Engine) -> pl.DataFrame:
    """Per translation: quality against the references, and agreement with the clean one both ways."""
    places = np.searchsorted(block.segments["row"].to_numpy(), translations["row"].to_numpy())
    references = given_references(block.segments["references"]).gather(places)
    sources = block.segments["source"].fill_null("").gather(places).to_list()
    texts = translations["judged"].to_list()
    wants = "reference" in scorer.needs
    table = translations.select(KEYS).with_columns(scorer=pl.lit(scorer.name))
    able = (references.list.len() > 0).arg_true() if wants else pl.arange(len(texts), eager=True)
    nothing = pl.lit(None, pl.List(pl.Float64))
    if len(able):
        asked = [texts[place] for place in able], references.gather(able).to_list(), [sources[place] for place in able]
        statistics = engine.judge(scorer, Questions(asked[0], asked[1] if wants else None, asked[2]))
        scores = pl.Series(scorer.score_rows(statistics), dtype=pl.Float64)
        judged = pl.DataFrame({"place": able.cast(pl.UInt32), "score": scores, "statistics": list_column(statistics)})
        table = table.with_row_index("place").join(judged, on="place", how="left", maintain_order="left").drop("place")
    else:
        table = table.with_columns(score=pl.lit(None, pl.Float64), statistics=nothing)
    noisy = translations["perturbation"].is_not_null().to_numpy().nonzero()[0]
    if not wants or not len(noisy):
        return table.with_columns(forward=nothing, backward=nothing)
    clean = dict(translations.filter(pl.col("perturbation").is_null()).select("row", "judged").iter_rows())
    rows = translations["row"].to_list()
    before, after = [clean[rows[place]] for place in noisy], [texts[place] for place in noisy]
    here = [sources[place] for place in noisy]
    forward = engine.judge(scorer, Questions(after, [[text] for text in before], here))
    backward = engine.judge(scorer, Questions(before, [[text] for text in after], here))
    both = pl.DataFrame({"place": noisy}, schema={"place": pl.UInt32}).with_columns(
        forward=list_column(forward), backward=list_column(backward)
    )
    joined = table.with_row_index("place").join(both, on="place", how="left", maintain_order="left")
    return joined.drop("place")
