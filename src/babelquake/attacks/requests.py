"""What an attack may ask, and which model answers it.

A search yields a list of requests and is sent the list of replies. A question to the victim is the engine's `Question`;
the others name what is wanted, not who knows it: moves and constraints are chosen before any model is, and only
`AttackModels` knows which model serves which request. Each kind is a class, not a tuple: replies are remembered by
request, and two kinds of request about the same text must never be taken for each other.
"""

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from babelquake.engine import Ask
from babelquake.errors import UserError
from babelquake.generators import Dialogue
from babelquake.models import CausalLM, Encoder, MaskedLM
from babelquake.resource import Gap
from babelquake.scorers.base import Question, Scorer
from babelquake.systems.base import System

R = TypeVar("R")
PIECES = 128
"""Likeliest pieces of a vocabulary that are looked at for a gap; whole words among them are its fillers."""


@dataclass(frozen=True, slots=True)
class Perplexity:
    """How surprising the fluency model finds a text. Reply: a number."""

    fluency_of: str


@dataclass(frozen=True, slots=True)
class Closeness:
    """Cosine of two texts' sentence vectors. Reply: a number."""

    one: str
    other: str


@dataclass(frozen=True, slots=True)
class Rendering:
    """A source in the attacked system's translation. Reply: a text."""

    translation_of: str


@dataclass(frozen=True, slots=True)
class Agreement:
    """chrF of a translation against the translation of the clean source. Reply: a number."""

    translation: str
    clean: str


@dataclass(frozen=True, slots=True)
class Quality:
    """What another metric than the victim says. Reply: its raw score."""

    question: Question


Request = Question | Perplexity | Gap | Closeness | Rendering | Agreement | Quality
"""A `Question` asks for the victim's raw score; a `Gap` for the masked model's (word, probability) list."""
Asking = Generator[list[Request], list[Any], R]
"""Yields requests, receives their replies in order, returns R in the end."""


class Memory:
    """What a search was told so far: nothing is asked twice, and questions to the victim are counted."""

    def __init__(self) -> None:
        self.replies: dict[Request, Any] = {}
        self.queries = 0
        """Distinct questions to the victim."""

    def remembering(self, asking: Asking[R]) -> Asking[R]:
        """The same generator, asking only what is not yet known."""
        dialogue = Dialogue(asking)
        while not dialogue.over:
            missing = [request for request in dict.fromkeys(dialogue.asked) if request not in self.replies]
            if missing:
                self.queries += sum(isinstance(request, Question | Rendering) for request in missing)
                self.replies.update(zip(missing, (yield missing), strict=True))
            dialogue.tell([self.replies[request] for request in dialogue.asked])
        return dialogue.result


@dataclass(frozen=True)
class AttackModels:
    """The models behind an attack; those that nobody asks may be missing."""

    causal: CausalLM | None = None
    masked: MaskedLM | None = None
    encoder: Encoder | None = None
    system: System | None = None
    chrf: Scorer | None = None
    judge: Scorer | None = None
    """The metric that must not find a candidate better."""

    def asked(self, asking: Asking[R]) -> Generator[list[Question | Ask], list[Any], R]:
        """The same generator in the engine's words."""
        dialogue = Dialogue(asking)
        while not dialogue.over:
            asked = [self._asked(request) for request in dialogue.asked]
            answers = iter((yield [one for some in asked for one in some]))
            dialogue.tell(
                [
                    _reply(request, [next(answers) for _ in some])
                    for request, some in zip(dialogue.asked, asked, strict=True)
                ]
            )
        return dialogue.result

    def _asked(self, request: Request) -> tuple[Question | Ask, ...]:
        match request:
            case Question():
                return (request,)
            case Perplexity(text) if self.causal is not None:
                return (Ask(self.causal, text),)
            case Gap() if self.masked is not None:
                return (Ask(self.masked, request, PIECES),)
            case Closeness(one, other) if self.encoder is not None:
                layers = (self.encoder.depth,)
                return Ask(self.encoder, one, layers), Ask(self.encoder, other, layers)
            case Rendering(text) if self.system is not None:
                return (Ask(self.system, text),)
            case Agreement(translation, clean) if self.chrf is not None:
                return (Ask(self.chrf, Question(translation, (clean,))),)
            case Quality(question) if self.judge is not None:
                return (Ask(self.judge, question),)
        raise UserError(f"the attack asks for {type(request).__name__.lower()}, and no model was given for it.")


def _reply(request: Request, answers: list[Any]) -> Any:
    match request:
        case Perplexity():
            return perplexity(answers[0])
        case Closeness():
            one, other = (next(iter(encoding.layers.values())).mean(axis=0) for encoding in answers)
            return _cosine(one, other)
    return answers[0]


def perplexity(log_probabilities: Any) -> float:
    """exp of the mean negative log-probability of a text's tokens; infinite for a text without any."""
    values = np.asarray(log_probabilities, dtype=np.float64)
    return math.exp(-float(np.add.reduce(values)) / values.size) if values.size else math.inf


def _cosine(one: Any, other: Any) -> float:
    a, b = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    return float(a @ b / max(float(np.linalg.norm(a) * np.linalg.norm(b)), 1e-12))
