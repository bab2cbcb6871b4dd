"""From what a search asks to what the engine answers: the only place that knows which model serves which request."""

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from babelquake.attacks.asking import (
    Agreement,
    Asking,
    Closeness,
    Judgement,
    Perplexity,
    Rendering,
    Request,
)
from babelquake.engine import Ask
from babelquake.errors import UserError
from babelquake.models import CausalLM, Encoder, MaskedLM
from babelquake.resource import Gap
from babelquake.scorers.base import Question, Scorer
from babelquake.systems.base import System

R = TypeVar("R")
PIECES = 128
"""Likeliest pieces of a vocabulary that are looked at for a gap; whole words among them are its fillers."""


@dataclass(frozen=True)
class Voice:
    """The models behind an attack; those that nobody asks may be missing."""

    causal: CausalLM | None = None
    masked: MaskedLM | None = None
    encoder: Encoder | None = None
    system: System | None = None
    chrf: Scorer | None = None

    def speaking(self, asking: Asking[R]) -> Generator[list[Question | Ask], list[Any], R]:
        """The same generator in the engine's words."""
        try:
            requests = next(asking)
            while True:
                asked = [self._asked(request) for request in requests]
                answers = yield [one for some in asked for one in some]
                replies, start = [], 0
                for request, some in zip(requests, asked, strict=True):
                    replies.append(_reply(request, answers[start : start + len(some)]))
                    start += len(some)
                requests = asking.send(replies)
        except StopIteration as end:
            result: R = end.value
            return result

    def _asked(self, request: Request) -> tuple[Question | Ask, ...]:
        match request:
            case Judgement():
                return (Question(request.translation, request.references, request.source),)
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
