"""How questions and answers of each kind are keyed for the cache, measured, put in order and written."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from babelquake.models.base import Matrix, Span
from babelquake.resource import Filler, Gap
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


def _longest_first(text: str) -> tuple[int, str]:
    return -len(text), text


TRANSLATION: Form[str, str] = Form(
    utf8, len, _longest_first, utf8, lambda data: data.decode("utf-8", "surrogatepass"), nothing=""
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
COMPARISON: Form[Question, Array] = Form(
    JUDGEMENT.key,
    JUDGEMENT.length,
    lambda question: (
        -len((question.references or ("",))[0]),
        question.references or (),
        question.source or "",
        -len(question.translation),
        question.translation,
    ),
    JUDGEMENT.write,
    JUDGEMENT.read,
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
