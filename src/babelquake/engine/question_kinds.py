"""How questions and answers of each kind are keyed for the cache, measured, put in order and written.

And what was asked for and not had: what stands in its place, and what a reader of the results must know of it.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

import numpy as np

from babelquake.errors import UnansweredError, setting
from babelquake.escape import visible
from babelquake.models.base import Matrix, Span
from babelquake.resource import Filler, Gap, Resource
from babelquake.scorers.base import Array, Question

Q = TypeVar("Q")
A = TypeVar("A")


@dataclass(frozen=True)
class Form(Generic[Q, A]):
    """How questions and answers of one kind are keyed, measured and written."""

    key: Callable[[Q], bytes]
    length: Callable[[Q], int]
    order: Callable[[Q], Any]
    write: Callable[[A], bytes]
    read: Callable[[bytes], A]
    nothing: A | None = None
    """What stands for an answer that could not be had, if anything can."""


def utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


TRANSLATION: Form[str, str] = Form(
    utf8,
    len,
    lambda text: (-len(text), text),
    utf8,
    lambda data: data.decode("utf-8", "surrogatepass"),
    nothing="",
)
JUDGEMENT: Form[Question, Array] = Form(
    lambda question: question.key,
    lambda question: question.characters,
    lambda question: (
        -question.characters,
        question.translation,
        question.references or (),
        question.source or "",
    ),
    lambda row: np.asarray(row, dtype="<f8").tobytes(),
    lambda data: np.frombuffer(data, dtype="<f8"),
)
COMPARISON: Form[Question, Array] = replace(
    JUDGEMENT,
    order=lambda question: (
        -len((question.references or ("",))[0]),
        question.references or (),
        question.source or "",
        -len(question.translation),
        question.translation,
    ),
)
"""Judgements from vectors: variants of one reference or source stand together, so that it is encoded once."""
MARKING: Form[Question, list[Span]] = Form(
    JUDGEMENT.key,
    JUDGEMENT.length,
    JUDGEMENT.order,
    lambda spans: json.dumps(spans).encode("ascii"),
    lambda data: [Span(*span) for span in json.loads(data)],
)
FILLING: Form[Gap, list[Filler]] = Form(
    lambda gap: b"%d %b" % (len(utf8(gap.before)), utf8(gap.before + gap.after)),
    lambda gap: len(gap.before) + len(gap.after),
    lambda gap: (-len(gap.before) - len(gap.after), gap),
    lambda offers: json.dumps(offers).encode("ascii"),
    lambda data: [Filler(*offer) for offer in json.loads(data)],
)
PROBABILITY: Form[str, Matrix] = Form(
    utf8,
    len,
    lambda text: text,  # texts that begin alike stand together: a causal model reads their beginning once
    lambda row: np.asarray(row, dtype="<f4").tobytes(),
    lambda data: np.frombuffer(data, dtype="<f4"),
)


class Shortfalls:
    """Texts that have no answer, and systems that say nothing."""

    def __init__(self, on_error: Literal["keep", "stop"]) -> None:
        self.on_error = on_error
        """Whether to go on without the answers that could not be had, or to stop once everything else is done."""
        self._unanswered: dict[str, tuple[int, str]] = {}
        """By resource: how many texts have no answer, and why the first has none."""
        self._said: dict[str, list[int]] = {}
        """By system: how many texts that were not blank it got, and how many of its translations were not."""

    def hear(self, system: str, texts: Sequence[str], translations: Sequence[str]) -> None:
        """Count what a system made of texts that were not blank."""
        said = self._said.setdefault(system, [0, 0])
        said[0] += sum(map(bool, texts))
        said[1] += sum(bool(text.strip()) for text in translations)

    def stand_ins(self, resource: Resource, reasons: dict[Q, str], of: int, form: Form[Q, A]) -> dict[Q, A]:
        """What stands for answers that could not be had; an error where nothing can, or where the user wants one."""
        question, why = next(iter(reasons.items()))
        shown = visible(str(question))
        shown = shown if len(shown) <= 60 else shown[:59] + "…"
        first = f"“{shown}” ({why})."
        if self.on_error == "stop" or form.nothing is None:
            raise UnansweredError(
                f"{resource.name} gave no usable answer to {len(reasons)} of {of} texts, first {first} "
                f"Everything else is kept; {setting('on_error', 'keep')} continues without them."
            )
        before, earlier = self._unanswered.get(resource.name, (0, first))
        self._unanswered[resource.name] = before + len(reasons), earlier
        return dict.fromkeys(reasons, form.nothing)

    @property
    def notes(self) -> list[str]:
        """One sentence for each system that says nothing, and for each resource with texts that have no answer."""
        silent = [
            f"{name} returned an empty translation for every text ({asked})."
            for name, (asked, spoken) in self._said.items()
            if asked and not spoken
        ]
        lacking = [
            f"{name} did not translate {'1 text' if count == 1 else f'{count} texts'}; empty translations are "
            f"counted instead. The first: {first}"
            for name, (count, first) in self._unanswered.items()
        ]
        return silent + lacking
