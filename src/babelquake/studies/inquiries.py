"""What a system is asked for clean and perturbed texts, and what becomes of its answers.

A sentence is one inquiry. A document is one too where the system takes it whole; where it is longer than the system
takes, it goes in parts that end at sentences, each with the sentences before it as context; to a system that does not
take documents it goes sentence by sentence. Every part is kept as soon as it is answered.

A document's translation is brought back to sentences where its lines fit: a document whose sentences were shuffled is
put in order again, of one that lost a sentence the others are compared, and a sentence that was added is left out.
Where lines do not fit, the document is judged as a whole.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.failures import Exchange
from babelquake.perturb.labels import REPEAT
from babelquake.scorers.base import Array, Questions, Scorer
from babelquake.scorers.strings.chrf import ChrF
from babelquake.systems import System
from babelquake.systems.prompts import Inquiry, Reading, check_instruction

CONTEXT = 2
"""Sentences before a part of a document that go with it."""
ALIKE = 75.0
"""Sentence chrF from which two translations are taken for one sentence's."""


@dataclass(frozen=True)
class Answer:
    """What a system made of one text."""

    translation: str
    exchange: Exchange | None = None
    """What was sent for it, where the system is asked by prompt."""


@dataclass(frozen=True)
class Sent:
    """What one text is sent as: its parts, with the number of lines of each."""

    parts: tuple[str, ...]
    lines: tuple[int, ...] = ()
    """For documents that the system takes whole or in parts."""

    def answered(self, readings: Sequence[Reading], by_prompt: bool) -> Answer:
        """The answers to the parts, together; of a system that is asked by prompt, with what was sent."""
        translation = "\n".join(reading.translation for reading in readings)
        if not by_prompt:
            return Answer(translation)
        spoken = [lines_of(reading.translation) for reading in readings]
        lines = tuple((sent, len(said)) for sent, said in zip(self.lines, spoken, strict=False))
        copied = (_of_context(part, said) for part, said in zip(self.parts, spoken, strict=True))
        misfit = next((reading.misfit for reading in readings if reading.misfit), "")
        return Answer(translation, Exchange(misfit, lines, next(filter(None, copied), "")))


def _of_context(part: str, spoken: Sequence[str]) -> str:
    """A line of the answer that is a line of the context, word for word."""
    context = set(lines_of(part.context)) if isinstance(part, Inquiry) else set()
    return next((line for line in spoken if line in context), "")


class Asking:
    """How one system is asked about the texts of one column, clean ones `repeats` times."""

    def __init__(self, system: System, column: str, documents: bool, repeats: int = 1) -> None:
        self.system, self.column, self.documents, self.repeats = system, column, documents, repeats
        self.usual = system.prompt.written if system.prompt is not None else None

    def clean(self, segments: pl.DataFrame) -> Iterator[Sent]:
        """What is sent for the clean texts of segments."""
        for source, instruction in zip(segments["source"].fill_null(""), self._instructions(segments), strict=True):
            yield self._sent(source, instruction)

    def perturbed(self, segments: pl.DataFrame, variants: pl.DataFrame) -> Iterator[Sent]:
        """What is sent for variants of segments.

        A text that a perturbation left as it is has the answer to one of the repeats, where there are some: with the
        clean text's own answer a system that samples would seem more consistent than it is.
        """
        told = zip(segments["source"].fill_null(""), self._instructions(segments), strict=True)
        by_row = dict(zip(segments["row"], told, strict=True))
        columns = variants.select("row", "perturbation", "replicate", "text", "changed")
        for row, label, replicate, text, changed in columns.iter_rows():
            source, instruction = by_row[row]
            repeat = replicate + 1 if label == REPEAT else 0
            if not changed and self.repeats > 1:
                repeat = replicate % (self.repeats - 1) + 1
            if self.column == "prompt":
                yield self._sent(source, text, repeat)
            else:
                yield self._sent(text, instruction, repeat)

    def everything(self, segments: pl.DataFrame, variants: pl.DataFrame) -> Iterator[str]:
        """All parts of everything that is sent."""
        for sent in (*self.clean(segments), *self.perturbed(segments, variants)):
            yield from sent.parts

    def _instructions(self, segments: pl.DataFrame) -> Iterable[str | None]:
        """The instruction for each segment; None where it is the system's own."""
        if self.column == "prompt":
            return segments["prompt"].to_list()
        if (column := self.system.prompt_column) is not None:
            if column not in segments.columns:
                raise UserError(
                    f"{self.system.name}: the data have no column '{column}' with a prompt for each segment."
                )
            found = segments[column].cast(pl.String).to_list()
            for instruction in {one for one in found if one is not None}:
                check_instruction(instruction, f"the column {column}")
            return found
        if self.documents and self.system.documents and self.system.prompt is not None:
            return [self.system.prompt.for_documents().written] * segments.height
        return [None] * segments.height

    def _sent(self, text: str, instruction: str | None, repeat: int = 0) -> Sent:
        said = None if instruction == self.usual else instruction
        if not self.documents:
            return Sent((_asked(text, said, "", repeat),))
        lines = lines_of(text)
        if not self.system.documents:
            return Sent(tuple(_asked(line, said, "", repeat) for line in lines))
        cut = list(_parts(lines, self.system.holds))
        return Sent(
            tuple(_asked("\n".join(part), said, "\n".join(before), repeat) for before, part in cut),
            tuple(len(part) for _, part in cut),
        )


def _asked(text: str, instruction: str | None, context: str, repeat: int) -> str:
    plain = instruction is None and not context and not repeat
    return text if plain else Inquiry(text, instruction, context, repeat)


def _parts(lines: Sequence[str], holds: Callable[[str], bool]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """A document in parts that the system takes, each with the sentences before it; none ends within a sentence."""
    start = 0
    while start < len(lines):
        end = start + 1
        while end < len(lines) and holds("\n".join(lines[start : end + 1])):
            end += 1
        yield lines[max(0, start - CONTEXT) : start], lines[start:end]
        start = end


def lines_of(text: str) -> list[str]:
    """The lines of a document; empty ones do not count."""
    return [line for line in text.split("\n") if line.strip()]


class Returned(NamedTuple):
    """A document's translation brought back to the sentences of the original, or whole."""

    text: str
    by_sentence: bool
    leaked: str = ""
    """A sentence that was not sent and is in the translation all the same."""


def brought_back(original: str, sent: str, translation: str, clean: str | None) -> Returned:
    """One line per sentence of the original, where lines fit; one that was not sent has its clean translation."""
    before, now, spoken = lines_of(original), lines_of(sent), lines_of(translation)
    places = _origins(before, now)
    kept = lines_of(clean) if clean is not None else []
    missing = [] if places is None else [place for place in range(len(before)) if place not in places]
    known = len(kept) == len(before)
    leaked = next((kept[place] for place in missing if known and _among(kept[place], spoken)), "")
    if places is None or len(spoken) != len(now) or (missing and not known):
        return Returned(translation, False, leaked)
    lines = [kept[place] if place in missing else spoken[places.index(place)] for place in range(len(before))]
    return Returned("\n".join(lines), True, leaked)


def _origins(before: Sequence[str], now: Sequence[str]) -> list[int | None] | None:
    """For each line that was sent the sentence of the original that it is; None where lines cannot be told apart."""
    left: dict[str, list[int]] = {}
    for place, line in enumerate(before):
        left.setdefault(line, []).append(place)
    found = [left[line].pop(0) if left.get(line) else None for line in now]
    if None in found and len(before) == len(now):
        return list(range(len(now)))
    lost = any(left.values())
    return None if None in found and lost else found


def _among(line: str, spoken: Sequence[str]) -> bool:
    return bool(spoken) and bool((ChrF().segments(list(spoken), [line] * len(spoken)) >= ALIKE).any())


def documents_of(segments: pl.DataFrame) -> pl.DataFrame:
    """One row per document, in the order in which they begin; a segment without a document is one itself.

    Sentences without a source are left out. References are joined where every sentence has as many.
    """
    named = segments.filter(pl.col("source").fill_null("").str.strip_chars() != "").with_columns(
        pl.coalesce("document", "id").alias("document"),
        source=pl.col("source").str.replace_all("\n", " "),
    )
    keys = ["language_pair", "document"]
    rows = []
    for (pair, document), part in named.group_by(keys, maintain_order=True):
        first = part.row(0, named=True)
        given = [[text.replace("\n", " ") for text in one or ()] for one in part["references"].to_list()]
        each = {len(one) for one in given}
        joined = ["\n".join(texts) for texts in zip(*given, strict=True)] if len(each) == 1 else []
        rows.append(
            {
                **first,
                "id": str(document),
                "language_pair": pair,
                "source": "\n".join(part["source"]),
                "references": joined,
            }
        )
    schema = {name: kind for name, kind in named.schema.items() if name != "row"}
    return pl.DataFrame(rows, schema=schema).with_row_index("row")


def judged_by_sentence(engine: Engine, scorer: Scorer, questions: Questions, fits: Sequence[bool | None]) -> Array:
    """A scorer's rows: of documents whose lines fit those of all that they are compared with, the sum over sentences.

    `fits` is None for texts that are not documents, False for documents that are judged as a whole.
    """
    if all(fit is None for fit in fits):
        return engine.judge(scorer, questions)
    translations: list[str] = []
    references: list[list[str]] = []
    sources: list[str] = []
    counts, whole = [], []
    for place, (translation, fit) in enumerate(zip(questions.translations, fits, strict=True)):
        given = list(questions.references[place]) if questions.references is not None else []
        source = questions.sources[place] if questions.sources is not None else ""
        lines = [lines_of(text) for text in (translation, source or "", *given)]
        together = not fit or len({len(some) for some in lines}) > 1
        parts = [[text] for text in (translation, source or "", *given)] if together else lines
        translations += parts[0]
        sources += parts[1]
        references += [list(some) for some in zip(*parts[2:], strict=True)] if given else [[] for _ in parts[0]]
        counts.append(len(parts[0]))
        whole.append(max(1, len(lines[1])) if together else 0)
    asked = Questions(translations, references if questions.references is not None else None, sources)
    rows = engine.judge(scorer, asked)
    starts = np.cumsum([0, *counts[:-1]])
    summed = np.add.reduceat(rows, starts, axis=0) if len(counts) else rows
    for place, sentences in enumerate(whole):
        if sentences:
            summed[place] = scorer.of_document(summed[place], sentences)
    return np.asarray(summed)
