"""Plans carried out: variants, translations, scores and failures, made block by block in bounded memory.

Loops go over systems and scorers outside and over blocks of segments inside: one model is in memory at a time, memory
stays bounded, and a killed run continues at its last block.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

import numpy as np
import polars as pl

from babelquake.engine import Engine, Progress, sharing
from babelquake.perturb.card import card_of
from babelquake.perturb.labels import known_card
from babelquake.perturb.suite import REWRITTEN
from babelquake.runs.tables import Parts, list_column
from babelquake.scorers.base import Questions, Scorer
from babelquake.scorers.strings.chrf import ChrF
from babelquake.studies.card import Session
from babelquake.studies.detection import EXCHANGE, close_detectors
from babelquake.studies.final_marks import RESETS, Comparable, without_instruction
from babelquake.studies.forecast import Unasked, refuse_beyond, unsent_by
from babelquake.studies.inquiries import Answer, Sent, brought_back, judged_by_sentence
from babelquake.studies.options import Reset
from babelquake.studies.plan import Material, Places, Plan
from babelquake.studies.resolve import given_references
from babelquake.studies.variants import Block, cell_columns
from babelquake.systems import System
from babelquake.systems.files import Stored

KEYS = ("system", "language_pair", "row", "id", "perturbation", "level", "replicate")
Tables = dict[str, pl.LazyFrame]
Pieces = list[tuple[str, Block]]
"""Parts of a table, by name, and the block that each belongs to."""
Read = Callable[[str, Block], pl.DataFrame]
MOST_MARKED = 200
"""Variants per scorer whose spans are kept."""
VARIANT = ["perturbation", "level", "replicate"]
ERROR = pl.Struct(
    {"text": pl.String, "severity": pl.String, "start": pl.Int64, "end": pl.Int64, "confidence": pl.Float64}
)
SPANS: dict[str, pl.DataType | type[pl.DataType]] = {
    "row": pl.UInt32,
    "scorer": pl.String,
    "perturbation": pl.String,
    "level": pl.Float64,
    "replicate": pl.UInt32,
    "spans": pl.List(ERROR),
}


def execute(plan: Plan, session: Session) -> Tables:
    """The tables of a plan; whatever is finished is read back.

    `variants`; with systems `translations`, `scores` and, where something is looked for in them, `failures`; without
    systems `scores` (one row per judged text), `sums` (replicates of a segment together) and the `spans` marked.
    """
    run, material = session.run, plan.perturbed
    session.words = plan.words
    judged = ("scores",) if plan.systems is not None else ("scores", "sums")
    wanted = ["variants", *(["translations"] if plan.systems is not None else []), *judged]
    wanted += ["failures"] if plan.detect is not None else []
    if all(run.has(table) for table in wanted):
        return {table: run.scan(table) for table in wanted}
    blocks, parts = plan.blocks(), {table: run.parts(table) for table in (*wanted, "spans")}
    missing = [block for block in blocks if not parts["variants"].has(block.name)]
    total, quiet = sum(len(block.segments) for block in missing), session.engine.quiet
    with Progress("perturbing", total, quiet=quiet) as progress:
        for block, made in plan.variants(session.engine, missing):
            parts["variants"].store(block.name, made)
            progress.advance(block.segments.height)
    _keep_within(plan, session, blocks, parts)
    joined = {"variants": [block.name for block in blocks]}
    if plan.systems is None:
        pieces: Pieces = [(block.name, block) for block in blocks]

        def read(name: str, block: Block) -> pl.DataFrame:
            return material.paired(block, parts["variants"].read(name))
    else:
        pieces = _translate(plan, blocks, parts, session.engine)
        joined["translations"] = [name for name, _ in pieces]

        def read(name: str, block: Block) -> pl.DataFrame:
            return parts["translations"].read(name)

    joined |= _judge(plan, session, pieces, read, {table: parts[table] for table in (*judged, "spans")})
    if plan.detect is not None:
        for name, block in pieces:
            if not parts["failures"].has(name):
                parts["failures"].store(name, plan.detect(block, read(name, block), session.engine))
        joined["failures"] = [name for name, _ in pieces]
        close_detectors(session.engine)
    found = run.join(**joined)
    return {table: found[table] for table in wanted}


def _keep_within(plan: Plan, session: Session, blocks: Sequence[Block], parts: dict[str, Parts]) -> None:
    """Refuse to begin what would send more characters to remote systems or judges than the budget allows."""
    engine, material = session.engine, plan.perturbed
    if engine.budget is None:
        return
    asked: list[tuple[System, str | None, list[str]]] = []
    for pair, number, system in _systems(plan):
        if system.remote:
            mine = [block for block in blocks if block.language_pair == pair]
            left = [block for block in mine if not parts["translations"].has(f"{number:03d}-{block.name}")]
            asking = material.asking(system)
            texts = [
                text for block in left for text in asking.everything(block.segments, parts["variants"].read(block.name))
            ]
            asked.append((system, pair, texts))
    rows = unsent_by(asked, engine)
    for number, scorer in enumerate(plan.scorers) if plan.systems is None else ():
        if scorer.remote:
            left = [block for block in blocks if not parts["scores"].has(f"{number:03d}-{block.name}")]
            paired = ((block, material.paired(block, parts["variants"].read(block.name))) for block in left)
            questions = [one for both in paired for one in engine.unjudged(scorer, material.questions(*both))]
            characters = sum(one.characters for one in questions)
            rows.append(Unasked(scorer.name, None, True, len(questions), characters, None, None))
    refuse_beyond(engine.budget, [row for row in rows if row.remote and row.characters])


def _systems(plan: Plan) -> Iterator[tuple[str | None, int, System]]:
    """Language pair, number and system."""
    for pair, here in (plan.systems or {}).items():
        for number, system in enumerate(here):
            yield pair, number, system


def _translate(plan: Plan, blocks: Sequence[Block], parts: dict[str, Parts], engine: Engine) -> Pieces:
    """Every system's translations of the blocks of its language pair; their parts by name."""
    labels = frozenset(perturbation.label for perturbation in plan.perturbations.perturbations)
    translations, found = parts["translations"], []
    for pair, number, system in _systems(plan):
        with closing(system):
            for block in blocks:
                if block.language_pair == pair:
                    name = f"{number:03d}-{block.name}"
                    if not translations.has(name):
                        noisy = parts["variants"].read(block.name)
                        translations.store(name, _translated(plan, system, block, noisy, labels, engine))
                    found.append((name, block))
    return found


def _translated(
    plan: Plan, system: System, block: Block, noisy: pl.DataFrame, made: frozenset[str], engine: Engine
) -> pl.DataFrame:
    """One system's translations of a block's clean sources, then of the perturbed ones; `made` are the suite's."""
    segments, reset, material = block.segments, plan.reset, plan.perturbed
    of_prompts = material.column == "prompt"
    if isinstance(system, Stored):
        segments, noisy = system.known(segments, noisy)
    sources = dict(zip(segments["row"], segments["source"].fill_null(""), strict=True))
    if isinstance(system, Stored):
        everything = [Answer(text) for text in (*system.of_clean(list(sources)), *system.of_variants(noisy))]
    else:
        asking = material.asking(system)
        everything = _asked(system, [*asking.clean(segments), *asking.perturbed(segments, noisy)], engine)
    texts = [sources[row] for row in noisy["row"]] if of_prompts else noisy["text"].to_list()
    exchanges = [told.exchange for told in everything]
    clean = {row: told.translation for row, told in zip(sources, everything[: len(sources)], strict=True)}
    raw = [told.translation for told in everything[len(sources) :]]
    comparable = {name: _comparable(name, reset, made) for name in noisy["perturbation"].unique()}
    judged = [
        comparable[name](text, clean[row], changed, sources[row])
        for text, row, name, changed in zip(raw, noisy["row"], noisy["perturbation"], texts, strict=True)
    ]
    by_sentence: list[bool | None] = [None] * len(everything)
    if material.documents:
        whole = [brought_back(sources[row], sources[row], clean[row], None) for row in sources]
        back = [
            brought_back(sources[row], sent, text, clean[row])
            for row, sent, text in zip(noisy["row"], texts, raw, strict=True)
        ]
        judged = [one.text for one in back]
        by_sentence = [one.by_sentence for one in (*whole, *back)]
        for place, one in enumerate(back, len(sources)):
            if (exchange := exchanges[place]) is not None and one.leaked:
                exchanges[place] = exchange._replace(foreign=one.leaked)
    against = [clean[row] for row in noisy["row"]]
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
        "changed",
        *([pl.col("text").alias("prompt")] if of_prompts else []),
    ).with_columns(
        source=pl.Series(texts, dtype=pl.String),
        translation=pl.Series(raw, dtype=pl.String),
        judged=pl.Series(judged, dtype=pl.String),
        consistency=pl.Series(ChrF().segments(judged, against), dtype=pl.Float64),
    )
    return pl.concat([before, after], how="diagonal").with_columns(
        by_sentence=pl.Series(by_sentence, dtype=pl.Boolean),
        exchange=pl.Series([None if one is None else one._asdict() for one in exchanges], dtype=EXCHANGE),
    )


def _asked(system: System, sent: Sequence[Sent], engine: Engine) -> list[Answer]:
    """A system's answers to texts, each in as many parts as it was sent in, put together."""
    answers = iter(engine.answers(system, [part for one in sent for part in one.parts]))
    return [one.answered([system.reading(next(answers)) for _ in one.parts], system.prompt is not None) for one in sent]


def _comparable(label: str, reset: Reset, made: frozenset[str]) -> Comparable:
    """How translations of a variant are made comparable with clean ones before they are judged.

    By default final marks that a perturbation of punctuation changed are reset; of a source with an instruction inside,
    what was translated beside the instruction is judged.
    """
    card = known_card(label)
    if reset != "never" and card is not None and card.injects:
        return without_instruction
    punctuated = label in made and card_of(label.partition("[")[0]).family == "punctuation"
    return RESETS[reset if punctuated or reset == "always" else "never"]


def _of_translations(scorer: Scorer, block: Block, translations: pl.DataFrame, engine: Engine) -> pl.DataFrame:
    """Per translation: quality against the references, and agreement with the clean one both ways."""
    places = np.searchsorted(block.segments["row"].to_numpy(), translations["row"].to_numpy())
    references = given_references(block.segments["references"]).gather(places)
    sources = block.segments["source"].fill_null("").gather(places).to_list()
    texts = translations["judged"].to_list()
    fits = translations["by_sentence"].to_list()
    wants = "reference" in scorer.needs
    table = translations.select(KEYS).with_columns(scorer=pl.lit(scorer.name))
    able = (references.list.len() > 0).arg_true() if wants else pl.arange(len(texts), eager=True)
    nothing = pl.lit(None, pl.List(pl.Float64))
    if len(able):
        asked = [texts[place] for place in able], references.gather(able).to_list(), [sources[place] for place in able]
        questions = Questions(asked[0], asked[1] if wants else None, asked[2])
        statistics = judged_by_sentence(engine, scorer, questions, [fits[place] for place in able])
        scores = pl.Series(scorer.score_rows(statistics), dtype=pl.Float64)
        table = _beside(table, able.to_numpy(), score=scores, statistics=list_column(statistics))
    else:
        table = table.with_columns(score=pl.lit(None, pl.Float64), statistics=nothing)
    noisy = translations["perturbation"].is_not_null().to_numpy().nonzero()[0]
    if not wants or not len(noisy):
        return table.with_columns(forward=nothing, backward=nothing)
    clean = dict(translations.filter(pl.col("perturbation").is_null()).select("row", "judged").iter_rows())
    rows = translations["row"].to_list()
    before, after = [clean[rows[place]] for place in noisy], [texts[place] for place in noisy]
    said = [sources[place] for place in noisy]
    whole = {
        row: fit for row, fit, label in zip(rows, fits, translations["perturbation"], strict=True) if label is None
    }
    both_fit = [fits[place] and whole[rows[place]] for place in noisy]
    forward = judged_by_sentence(engine, scorer, Questions(after, [[text] for text in before], said), both_fit)
    backward = judged_by_sentence(engine, scorer, Questions(before, [[text] for text in after], said), both_fit)
    return _beside(table, noisy, forward=list_column(forward), backward=list_column(backward))


def _beside(table: pl.DataFrame, places: Places, **columns: pl.Series) -> pl.DataFrame:
    """A table with columns of which only the rows at some places have a value."""
    known = pl.DataFrame({"place": places, **columns}).with_columns(pl.col("place").cast(pl.UInt32))
    return table.with_row_index("place").join(known, on="place", how="left", maintain_order="left").drop("place")


def _judge(plan: Plan, session: Session, pieces: Pieces, read: Read, parts: dict[str, Parts]) -> dict[str, list[str]]:
    """Every scorer's part of the tables of scores; the names of the parts, in order, by table."""
    named = {id(scorer): f"{number:03d}" for number, scorer in enumerate(session.scorers)}
    tables = [table for table in parts if table != "spans"]
    groups = sharing(session.scorers)
    for group in groups:
        for name, block in pieces:
            names = [f"{named[id(scorer)]}-{name}" for scorer in group]
            if all(parts[table].has(part) for table in tables for part in names):
                continue
            rows = read(name, block)
            if plan.systems is None:
                judged = _of_texts(plan.perturbed, block, rows, group, session.engine)
            else:
                judged = [{"scores": _of_translations(scorer, block, rows, session.engine)} for scorer in group]
            for part, found in zip(names, judged, strict=True):
                for table in reversed(tables):
                    parts[table].store(part, found[table])
        for scorer in group:
            if _marks(plan, scorer) and not parts["spans"].has(named[id(scorer)]):
                parts["spans"].store(
                    named[id(scorer)], _spans(plan, scorer, named[id(scorer)], pieces, read, parts, session)
                )
            if len(groups) > 1:
                scorer.close()
    names = [f"{number}-{name}" for number in named.values() for name, _ in pieces]
    marking = [named[id(scorer)] for scorer in session.scorers if _marks(plan, scorer)]
    return dict.fromkeys(tables, names) | ({"spans": marking} if marking else {})


def _marks(plan: Plan, scorer: Scorer) -> bool:
    """Whether the errors that a scorer marks are kept."""
    return scorer.marks_errors and plan.systems is None and plan.perturbed.side == "translation"


def _spans(
    plan: Plan, scorer: Scorer, number: str, pieces: Pieces, read: Read, parts: dict[str, Parts], session: Session
) -> pl.DataFrame:
    """The errors that a scorer – xCOMET, an LLM asked for errors – marks in the texts that readers look at.

    These are the variants whose score moved most, and the clean texts they come from. What the engine's answers and
    the scorers' memories hold is not asked again.
    """
    chosen = _most_moved(pl.concat(parts["scores"].read(f"{number}-{name}") for name, _ in pieces))
    variants = pl.concat(read(name, block).filter(pl.col("perturbation").is_not_null()) for name, block in pieces)
    if "own_source" in variants.columns:
        variants = variants.filter(pl.col("own_source").is_null())
    on = ["row", *VARIANT]
    texts = chosen.join(variants.select(*on, "text"), on=on, how="inner", nulls_equal=True, maintain_order="left")
    own = plan.perturbed.segments.filter(pl.col("row").is_in(texts["row"].unique().implode()))
    clean = own.select("row", *cell_columns(), "text")
    both = pl.concat([clean, texts.select(clean.columns)], how="vertical_relaxed").sort("row", maintain_order=True)
    places = own["row"].search_sorted(both["row"]).to_numpy()
    asked = plan.perturbed.batch(own, both["text"].to_list(), places)
    spans = [[span._asdict() for span in some] for some in session.engine.mark(scorer, asked)]
    found = both.drop("text").with_columns(scorer=pl.lit(scorer.name), spans=pl.Series(spans, dtype=pl.List(ERROR)))
    return found.select([pl.col(name).cast(kind) for name, kind in SPANS.items()])


def _most_moved(scores: pl.DataFrame) -> pl.DataFrame:
    """The variants whose score is farthest from that of the clean text; those without a score have nothing marked."""
    clean = scores.filter(pl.col("perturbation").is_null()).select("row", before="score")
    moved = (
        scores.filter(pl.col("perturbation").is_not_null() & pl.col("score").is_not_nan())
        .join(clean, on="row", how="left")
        .with_columns(moved=(pl.col("before") - pl.col("score")).abs().fill_nan(None))
    )
    return moved.sort(["moved", "row", *VARIANT], descending=[True, *[False] * 4], nulls_last=True).head(MOST_MARKED)


def _of_texts(
    material: Material, block: Block, paired: pl.DataFrame, group: Sequence[Scorer], engine: Engine
) -> list[dict[str, pl.DataFrame]]:
    """Scores of a block's clean and perturbed texts, and per segment and perturbation their sum."""
    keys, questions = paired.drop("text", *REWRITTEN, strict=False), material.questions(block, paired)
    segments, order, starts = _replicates(keys)
    found = []
    for scorer, statistics in zip(group, engine.judge_all(group, questions), strict=True):
        values = scorer.score_rows(statistics)
        named = pl.lit(scorer.name).alias("scorer")
        mean = np.add.reduceat(values[order], starts) / segments["replicates"].to_numpy()
        together = np.add.reduceat(statistics[order], starts, axis=0)
        scores = keys.drop("changed").with_columns(named, score=pl.Series(values, dtype=pl.Float64))
        summed = segments.with_columns(named, score=pl.Series(mean), statistics=list_column(together))
        found.append({"scores": scores, "sums": _answered(summed) if scorer.remote or scorer.may_refuse else summed})
    return found


def _answered(summed: pl.DataFrame) -> pl.DataFrame:
    """What a judge that may refuse did answer: a segment whose clean text has no score cannot be compared at all."""
    refused = pl.col("score").is_nan()
    lost = summed.filter(refused & pl.col("perturbation").is_null())["row"]
    return summed.filter(~refused, ~pl.col("row").is_in(lost.implode()))


def _replicates(keys: pl.DataFrame) -> tuple[pl.DataFrame, Places, Places]:
    """One row per segment and perturbation; an order that puts its replicates side by side, and where each begins."""
    groups = keys.with_row_index("place").group_by(
        ["row", "id", "language_pair", "perturbation", "level"], maintain_order=True
    )
    table = groups.agg(pl.len().alias("replicates"), pl.col("changed").any(), pl.col("place"))
    lengths = table["replicates"].to_numpy().astype(np.intp)
    return table.drop("place"), table["place"].explode().to_numpy(), np.cumsum(lengths) - lengths
