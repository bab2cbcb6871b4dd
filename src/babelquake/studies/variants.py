"""The one way from segments to variants: every study perturbs through it.

What the data hold beside each text may be handed to a perturbation: reference, other segments, foreign translations.
What share of the words a perturbation really changed stands beside the level that was asked for: a rule such as "at
least one word a sentence" makes a level of 0.05 change 15 % of the words of short sentences.

Data may bring their own variants, and translations of them. A table with columns `source` and `perturbed` (or
`translation` and `translation_perturbed`) says what changes; the column `perturbation` says what the change is called.
Segments carry their variants in the column `given`, from which `variants_of` takes them beside those that a suite
makes: everything after that is the same. A version that is equal to its original is not a variant: it counts as
unchanged, and has no part in any measure.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from babelquake.data import Dataset
from babelquake.engine import Engine
from babelquake.errors import UserError, did_you_mean, setting
from babelquake.languages import Language as LanguageType
from babelquake.languages import sides
from babelquake.models import masked
from babelquake.models.base import MaskedLM
from babelquake.perturb.base import Perturbation
from babelquake.perturb.context import Beside, Fillers, Other, Others
from babelquake.perturb.suite import Perturbations, Suite
from babelquake.perturb.suite import suite as suite_of
from babelquake.perturb.vocabulary import Vocabulary, vocabulary_of
from babelquake.resource import Filler, Gap
from babelquake.runs.measures import Measure
from babelquake.studies.kinds import shared
from babelquake.studies.options import PerturbingOptions
from babelquake.studies.resolve import AnySystem, systems_of
from babelquake.systems import SYSTEMS, System
from babelquake.systems.files import Stored
from babelquake.text import is_unspaced

Surroundings = Mapping[int, Beside]
"""By row."""
SHIPPED = "bundled[model=de-en-bpe]"
"""The translator that ships: English of German sources, where the data have no translation into a third language."""


def surroundings_of(segments: pl.DataFrame, column: str, suite: Suite, engine: Engine) -> Surroundings:
    """What perturbations of the texts in a column may be handed; nothing where none of the suite asks for it."""
    if not suite.looks_beside:
        return {}
    wanted = {name for perturbation in suite.perturbations for name in perturbation.card.wants}
    foreign = _foreign(segments, engine) if "foreign" in wanted else {}
    found: dict[int, Beside] = {}
    for table, rows in _neighbourhoods(segments, column):
        for row, place in rows.items():
            found[row] = Beside(table[place].reference, foreign.get(row), Others(table, place))
    return found


def _neighbourhoods(segments: pl.DataFrame, column: str) -> Iterator[tuple[list[Other], dict[int, int]]]:
    """Segments that stand together, in their order, and where each row stands among them.

    Those of one system and language pair; where a system has one segment only, all of the language pair.
    """
    grouped = ["language_pair", "system"] if "system" in segments.columns else ["language_pair"]
    small = segments.group_by(grouped).len().filter(pl.col("len") < 2).drop("len")
    alone = segments.join(small, on=grouped, how="semi", nulls_equal=True, maintain_order="left")
    apart = segments.join(small, on=grouped, how="anti", nulls_equal=True, maintain_order="left")
    for part in [
        *apart.partition_by(grouped, maintain_order=True),
        *alone.partition_by("language_pair", maintain_order=True),
    ]:
        texts, sources = part[column].fill_null("").to_list(), part["source"].to_list()
        given = part["references"].to_list()
        references = [_first(some, source) for some, source in zip(given, sources, strict=True)]
        table = [Other(*each) for each in zip(texts, sources, references, strict=True)]
        yield table, {row: place for place, row in enumerate(part["row"].to_list())}


def _first(references: list[str] | None, source: str | None) -> str | None:
    """The first reference; a source that stands in for one is none."""
    return next((one for one in references or () if one and one != source), None)


def _foreign(segments: pl.DataFrame, engine: Engine) -> dict[int, str]:
    """Each row's source in another language: as the data have it, or from German into English by a model that ships."""
    known: dict[str, dict[str, str]] = {}
    rows = []
    text = pl.col("translation") if "translation" in segments.columns else pl.lit(None, pl.String)
    columns = segments.select("row", "language_pair", "source", text.alias("text"), "references")
    for row, pair, source, text, references in columns.iter_rows():
        origin, target = sides(pair)
        best = _first(references, source) or text
        if source and target is not None:
            rows.append((row, origin, target, source))
            if best:
                known.setdefault(source, {}).setdefault(target.code, best)
    found, lacking = {}, {}
    for row, origin, target, source in rows:
        other = next((text for code, text in known.get(source, {}).items() if code != target.code), None)
        if other is not None:
            found[row] = other
        elif origin is not None and origin.code == "de" and target.code != "en":
            lacking[row] = source
    if lacking:
        from babelquake.systems import system

        found |= dict(zip(lacking, engine.translate(system(SHIPPED), list(lacking.values())), strict=True))
    return found


BLOCK_TEXTS = 40_000
"""Perturbed texts in one block."""


@dataclass(frozen=True)
class Block:
    """Some segments of one language pair."""

    name: str
    language_pair: str | None
    segments: pl.DataFrame


def blocks_of(segments: pl.DataFrame, suite: Suite) -> list[Block]:
    """Segments in blocks of one language pair each, few enough that their variants fit into memory."""
    per_segment = sum(suite.repeats(perturbation) for perturbation in suite.perturbations)
    size = max(1, BLOCK_TEXTS // max(1, per_segment))
    found: list[Block] = []
    for (pair,), part in segments.group_by("language_pair", maintain_order=True):
        for start in range(0, part.height, size):
            found.append(Block(f"{len(found):06d}", pair, part[start : start + size]))
    return found


Language = Callable[[str | None], str | None]
"""The language of a pair's texts that are perturbed."""
Words = Mapping[str | None, Vocabulary]
"""Language pair → the words that perturbations with `vocabulary=data` draw from."""


def cell_columns(label: str | None = None, level: float | None = None) -> list[pl.Expr]:
    """The columns that say which variant a text is; without a label, the clean text."""
    return [
        pl.lit(label, pl.String).alias("perturbation"),
        pl.lit(level, pl.Float64).alias("level"),
        pl.lit(0, pl.UInt32).alias("replicate"),
    ]


@dataclass(frozen=True)
class Piece:
    """A block, and what perturbations of its texts are told beside them."""

    block: Block
    lang: str | None
    vocabulary: Vocabulary | None = None
    beside: Sequence[Beside] | None = None

    def only(self, column: str) -> "Piece":
        """The same with no more columns than making variants of `column` takes."""
        known = self.block.segments
        wanted = dict.fromkeys(("row", "id", "language_pair", column, "source", COLUMN))
        return replace(
            self, block=replace(self.block, segments=known.select(name for name in wanted if name in known.columns))
        )


def variants_of(
    column: str, suite: Suite, seed: int, by_line: bool, piece: Piece, fillers: Fillers | None = None
) -> pl.DataFrame:
    """Every variant of a block's texts in `column`: those the data bring, then those the suite makes.

    With `by_line`, texts are documents that are perturbed sentence by sentence.

    Texts to which a perturbation does not apply have no row.

    Columns: row, id, perturbation, level, replicate, text, language_pair, and whether the text, or a source or
    reference that it brings, was really `changed`; where changes may bring these, `own_source` and `own_reference`.
    """
    block = piece.block
    texts = block.segments[column].fill_null("")
    table = (suite.variants_by_line if by_line else suite.variants)(
        block.segments["id"].to_list(),
        texts.to_list(),
        lang=piece.lang,
        seed=seed,
        sources=block.segments["source"].to_list(),
        vocabulary=piece.vocabulary,
        fillers=fillers,
        beside=piece.beside,
        target=sides(block.language_pair)[1],
    )
    places = table["row"]
    changed = table["text"] != texts.gather(places)
    if "own_source" in table.columns:
        changed |= table["own_source"].is_not_null() | table["own_reference"].is_not_null()
    made = table.with_columns(
        row=block.segments["row"].gather(places),
        language_pair=pl.lit(block.language_pair, pl.String),
        changed=changed,
    ).drop_nulls("text")
    given = given_of(block.segments)
    return made if given is None else pl.concat([given, made], how="diagonal_relaxed").select(made.columns)


def vocabularies(segments: pl.DataFrame, column: str, suite: Suite, language: Language) -> Words:
    """The content words of all texts of each language pair (Kanojia §5.2), where a perturbation says `data`."""
    if not suite.draws_from_data:
        return {}
    return {
        pair: vocabulary_of(part[column].fill_null("").to_list(), LanguageType.known(language(pair)))
        for (pair,), part in segments.group_by("language_pair", maintain_order=True)
    }


def fillers_of(engine: Engine) -> Fillers:
    """Words for gaps through the engine, from the masked language model that a perturbation names."""
    models: dict[str, MaskedLM] = {}

    def fillers(model: str, gaps: Sequence[Gap], top: int) -> Sequence[Sequence[Filler]]:
        if model not in models:
            models[model] = masked(model)
        return engine.fill(models[model], gaps, top)

    return fillers


def any_filler(model: str, gaps: Sequence[Gap], top: int) -> Sequence[Sequence[Filler]]:
    """Some word for every gap: to count texts without asking a model."""
    return [[Filler("word", 1.0), Filler("other", 0.5)] for _ in gaps]


def meaning_of(perturbation: Perturbation) -> str:
    """What a perturbation does to the meaning; a random character changes the last word (Jwalapuram §2.2)."""
    return "altering" if perturbation.options.get("mark") == "random" else perturbation.card.meaning


MOST = 2_000
"""Segments that the share is counted on; the first of each perturbation."""


def achieved_shares(variants: pl.LazyFrame, segments: pl.DataFrame, column: str) -> Iterator[Measure]:
    """Per language pair and perturbation: the share of words that differ from those of the text in `column`."""
    cell = ["language_pair", "perturbation", "level"]
    first = (pl.col("replicate") == 0) & pl.col("row").is_in(segments["row"].implode())
    clean = segments.lazy().select("row", clean=pl.col(column).fill_null(""))
    wanted = variants.filter(first).select(*cell, "row", "text")
    some = wanted.group_by(cell, maintain_order=True).head(MOST).collect()
    for place, part in some.group_by(cell, maintain_order=True):
        both = part.lazy().join(clean, on="row", maintain_order="left").collect()
        counts = [changed_words(*texts) for texts in both.select("clean", "text").iter_rows()]
        total = sum(words for _, words in counts)
        if total:
            share = 100 * sum(changed for changed, _ in counts) / total
            named: dict[str, Any] = dict(zip(cell, place, strict=True))
            yield Measure(shared.ACHIEVED_WORDS, share, len(counts), **named)


def changed_words(clean: str, changed: str) -> tuple[int, int]:
    """How many words of a text changed, and how many it has; characters where no spaces part words."""
    before, after = (list(text) if is_unspaced(clean) else text.split() for text in (clean, changed))
    if len(before) == len(after):
        return sum(one != other for one, other in zip(before, after, strict=True)), len(before)
    kept = (Counter(before) & Counter(after)).total()
    return len(before) - kept, len(before)


UNNAMED = "given"
"""What variants are called that the data give no name."""
COLUMN = "given"
CELL = ["perturbation", "replicate"]
KEYS = ("id", "language_pair", "system")
"""What a row of the data and a segment have in common."""
MEANINGS = frozenset({"preserving", "altering", "depends"})
Systems = dict[str | None, list[System]]
"""The systems of each language pair."""


def meanings_of(data: Dataset, column: str) -> dict[str, str]:
    """What the variants do to the meaning, as the column `meaning` says; those of a translation alter it otherwise."""
    if not data.has(column):
        return {}
    usual = "altering" if column == "translation_perturbed" else "preserving"
    rows = _labelled(data.segments, column)
    said = pl.col("meaning").cast(pl.String) if "meaning" in rows.columns else pl.lit(None, pl.String)
    told = rows.with_columns(meaning=said).group_by("perturbation", maintain_order=True).agg(pl.col("meaning").first())
    return {label: meaning if meaning in MEANINGS else usual for label, meaning in told.iter_rows()}


def refuse_shared_labels(data: Dataset, suite: Suite, column: str = "perturbed") -> None:
    """Refuse data that call a variant like a perturbation of the suite: their numbers could not be told apart."""
    made = {perturbation.label for perturbation in suite.perturbations}
    given = _labelled(data.segments, column)["perturbation"].unique(maintain_order=True) if data.has(column) else ()
    if both := [label for label in given if label in made]:
        raise UserError(
            f"{data.name} calls variants '{both[0]}', and so does the suite: "
            f"give them another name in the column perturbation, or leave it out of {setting('suite')}."
        )


def suite_for(
    options: PerturbingOptions, data: Dataset, default: Perturbations, column: str = "perturbed", given: bool = False
) -> Suite:
    """The perturbations to make: those asked for, or none where the data bring their variants, or else the default.

    Where something else is `given` to be judged, none is made unasked either.
    """
    if options.suite is None and (given or data.has(column)):
        return Suite("", ())
    chosen = suite_of(default if options.suite is None else options.suite, options.replicates, options.vocabulary)
    refuse_shared_labels(data, chosen, column)
    return chosen


def with_given(
    segments: pl.DataFrame, data: Dataset, column: str = "perturbed", clean: str = "source"
) -> tuple[pl.DataFrame, list[str]]:
    """Numbered segments with their variants in the column `given`, and what there is to say of them.

    Rows of the data belong to a segment by id and language pair, and of translations by the system too.
    """
    if not data.has(column):
        return segments, []
    shared = [name for name in KEYS if name in segments.columns]
    here = segments.select("row", *shared, pl.col(clean).fill_null("").alias("clean"))
    rows = _labelled(data.segments, column).drop("row", strict=False).join(here, on=shared, nulls_equal=True)
    distinct = rows.unique(["row", "perturbation", "text"], maintain_order=True)
    changed = distinct.filter(pl.col("text") != pl.col("clean"))
    replicate = pl.int_range(pl.len(), dtype=pl.UInt32).over("row", "perturbation")
    packed = (
        changed.with_columns(replicate=replicate)
        .group_by("row", maintain_order=True)
        .agg(pl.struct("perturbation", "replicate", "text").alias(COLUMN))
    )
    found = segments.join(packed, on="row", how="left", maintain_order="left")
    same = distinct.height - changed.height
    said = f"{same:,} of {distinct.height:,} given versions equal their original: they count as unchanged."
    return found, [said] if same else []


def _labelled(rows: pl.DataFrame, column: str) -> pl.DataFrame:
    """The rows that have a variant, with what it is called."""
    label = pl.col("perturbation") if "perturbation" in rows.columns else pl.lit(None, pl.String)
    there = rows.with_columns(perturbation=label.replace("", None).fill_null(UNNAMED), text=pl.col(column))
    return there.filter(pl.col("text").fill_null("").str.strip_chars() != "")


def given_of(segments: pl.DataFrame) -> pl.DataFrame | None:
    """The variants that segments carry, as rows of a table of variants; None where they carry none."""
    if COLUMN not in segments.columns:
        return None
    rows = segments.select("row", "id", "language_pair", COLUMN).explode(COLUMN).drop_nulls(COLUMN).unnest(COLUMN)
    return rows.with_columns(level=pl.lit(None, pl.Float64), changed=pl.lit(True))


def stored_systems(data: Dataset, segments: pl.DataFrame) -> dict[str | None, list[Stored]]:
    """The systems whose translations of both versions came with the data, for each language pair."""
    variants = given_of(segments)
    if variants is None or not data.has("translation") or not data.has("translation_perturbed"):
        return {}
    clean = segments.select("row", "id", "language_pair")
    rows = _labelled(data.segments, "perturbed").join(clean, on=["id", "language_pair"], nulls_equal=True)
    both = rows.filter(pl.col("translation").is_not_null() & pl.col("translation_perturbed").is_not_null())
    both = both.with_columns(pl.col("system").fill_null(UNNAMED))
    named = both.join(variants.select("row", *CELL, "text"), on=["row", "perturbation", "text"])
    found: dict[str | None, list[Stored]] = {}
    for (pair, system), part in named.group_by("language_pair", "system", maintain_order=True):
        made = part.select("row", *CELL, translation="translation_perturbed")
        own = part.unique("row", maintain_order=True).select("row", "translation")
        found.setdefault(pair, []).append(Stored(str(system), own, made))
    return found


def systems_for(
    named: Sequence[AnySystem], data: Dataset, segments: pl.DataFrame, pairs: Iterable[str | None]
) -> tuple[Systems, list[str]]:
    """The systems that were meant, as they translate each language pair, and who did not take part.

    A name of a system whose translations came with the data means these; where nobody is named, all of them are meant.
    """
    stored = stored_systems(data, segments)
    known = {item.name for systems in stored.values() for item in systems}
    if not known and not named:
        return {pair: [] for pair in pairs}, []
    wanted = [item for item in named if isinstance(item, str) and item in known]
    others = [item for item in named if not (isinstance(item, str) and item in known)]
    if known and (wrong := next((item for item in others if isinstance(item, str) and _is_plain(item)), None)):
        raise UserError(f"{data.name} has no translations by '{wrong}'. {did_you_mean(wrong, known)}")
    chosen = [item for item in known if not named or item in wanted]
    silent = sorted({item.name for systems in stored.values() for item in systems if item.silent} & set(chosen))
    made = systems_of(others, pairs)
    for pair, systems in stored.items():
        made[pair] = [*(item for item in systems if item.name in chosen and not item.silent), *made.get(pair, [])]
    if not any(made.values()):
        raise UserError(f"{data.name}: {', '.join(silent)} did not take part: every translation is empty.")
    return made, [f"{', '.join(silent)} did not take part: every translation is empty."] if silent else []


def unmade_variants(systems: Systems, suite: Suite) -> list[str]:
    """A note where systems translate nothing anew, so that perturbations of the suite cannot be measured on them."""
    stored = sorted({item.name for some in systems.values() for item in some if isinstance(item, Stored)})
    if not stored or not suite.perturbations:
        return []
    some = f"{', '.join(stored[:3])} and {len(stored) - 3} more" if len(stored) > 4 else ", ".join(stored)
    return [f"{some}: only the translations in the data are known, so {setting('suite')} is not measured on them."]


def _is_plain(name: str) -> bool:
    """Whether a name is not a spec of a system: such a one is a system's of the data, misspelt perhaps."""
    return "[" not in name and name not in SYSTEMS.names()


def no_system(data: Dataset) -> str:
    """Why there is no system: the data bring none, or translations of one of the versions alone."""
    if data.has("perturbed") and data.has("translation") != data.has("translation_perturbed"):
        has, lacks = ("clean", "perturbed") if data.has("translation") else ("perturbed", "clean")
        return (
            f"{data.name} has translations of the {has} sources only, not of the {lacks} ones. "
            "Use a system that translates both."
        )
    return f"No system given. Use {setting('systems', metavar='SYSTEM')}, such as command[cmd=cat]."
