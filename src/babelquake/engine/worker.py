"""What a worker does: ask one resource one kind of question, batch after batch.

In this process the resource is the live one. Sent elsewhere, a call is the recipe and the name of the question:
the worker builds the resource once, keeps it, and gives its encodings their own memory.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

import numpy as np

from babelquake import models, scorers, systems
from babelquake.engine.memory import Memory
from babelquake.errors import ResumableError, UnansweredError
from babelquake.models.base import CausalLM, Encoder, Encoding, MaskedLM, Matrix, Span
from babelquake.resource import SETTINGS, Filler, Gap, Recipe, Resource, halving
from babelquake.scorers.base import Array, Question, Questions, Scorer, VectorScorer
from babelquake.systems.base import System
from babelquake.text import is_whole

Q = TypeVar("Q")
A = TypeVar("A")
C = TypeVar("C", bound=Resource)


def build(recipe: Recipe) -> Resource:
    """The resource that a recipe describes, through the registries of the rooms below."""
    match recipe.kind:
        case "system":
            return systems.system(recipe.spec, recipe.language_pair)
        case "scorer":
            return scorers.scorer(recipe.spec)
        case "encoder":
            return models.encoder(recipe.spec)
        case "masked-lm":
            return models.masked(recipe.spec)
        case "causal-lm":
            return models.causal(recipe.spec)


@dataclass(frozen=True)
class Unanswered:
    """In place of an answer: why there is none."""

    reason: str


class Call(Generic[C, Q, A]):
    """One kind of question to one resource. Pickled, it is a recipe and a function's name."""

    def __init__(
        self,
        resource: C,
        ask: Callable[..., list[A]],
        memory: Memory,
        options: dict[str, Any] | None = None,
        resident: int = 1,
    ) -> None:
        self.resource = resource
        self.ask = ask
        self.memory = memory
        self.options = options or {}
        self.resident = resident
        """How many calls a worker may hold at a time, each with its model."""

    def __call__(self, batch: list[Q]) -> list[A | Unanswered]:
        """The answers to a batch; one that does not fit into memory is halved, unless each call costs money."""
        return self._checked(batch) if getattr(self.resource, "remote", False) else halving(self._checked, batch)

    def rows(self, questions: Questions) -> Array:
        """The rows of a cheap scorer, which does not need batches."""
        found: Array = cast(Scorer, self.resource).statistics(questions)
        return found

    def _checked(self, batch: list[Q]) -> list[A | Unanswered]:
        try:
            answers: list[Any] = self.ask(self.resource, batch, self.memory, **self.options)
        except UnansweredError as error:
            found: dict[Any, Any] = {text: Unanswered(why) for text, why in error.reasons.items()}
            found.update(error.answers)
            answers = [found[one] for one in batch if one in found]
        if len(answers) != len(batch):
            kinds = ((System, "translations"), (Scorer, "scores"), (object, "answers"))
            kind = next(name for what, name in kinds if isinstance(self.resource, what))
            raise ResumableError(
                f"{self.resource.name} gave {len(answers)} {kind} for {len(batch)} texts; finished work is kept."
            )
        return answers

    def __reduce__(self) -> tuple[Callable[..., "Call[Any, Any, Any]"], tuple[Any, ...]]:
        what = (self.resource.recipe, self.ask, self.memory.bound, tuple(sorted(self.options.items())))
        return _resident, (*what, self.resident, (SETTINGS.device, SETTINGS.offline))


_RESIDENTS: OrderedDict[tuple[Any, ...], Call[Any, Any, Any]] = OrderedDict()
"""The calls that this worker holds, the one used last at the end."""


def _resident(
    recipe: Recipe,
    ask: Callable[..., list[A]],
    bound: int,
    options: tuple[tuple[str, Any], ...],
    most: int,
    settings: tuple[str, bool],
) -> Call[Any, Any, A]:
    """The call in a worker: built once, and kept while no more than `most` others were asked since."""
    models.configure(*settings)
    what = (recipe, ask, bound, options)
    if what not in _RESIDENTS:
        while len(_RESIDENTS) >= most:
            _, oldest = _RESIDENTS.popitem(last=False)
            oldest.resource.close()
        _RESIDENTS[what] = Call(build(recipe), ask, Memory(bound), dict(options))
    _RESIDENTS.move_to_end(what)
    return _RESIDENTS[what]


def translations(system: System, batch: list[str], memory: Memory) -> list[str]:
    """What a system says to texts or inquiries; an unpaired surrogate cannot be stored."""
    found = system.said(batch)
    broken = {
        text: "the translation contains an unpaired surrogate"
        for text, translation in zip(batch, found, strict=False)
        if not is_whole(translation)
    }
    if broken and len(found) == len(batch):
        done = {text: translation for text, translation in zip(batch, found, strict=True) if text not in broken}
        raise UnansweredError(f"{system.name} gave {len(broken)} broken translations.", done, broken)
    return found


def statistics(scorer: Scorer, batch: list[Question], memory: Memory) -> list[Array]:
    """A scorer's rows; one that compares vectors gets them from the memory."""
    questions = Questions.of(batch)
    if not isinstance(scorer, VectorScorer):
        return list(scorer.statistics(questions))
    texts = scorer.texts(questions)
    vectors = tuple(memory.encode(encoder, texts, layers) for encoder, layers in scorer.encoders())
    return list(scorer.statistics_of(questions, vectors))


def statistics_of_all(
    scorer: VectorScorer, batch: list[Question], memory: Memory, kin: Sequence[VectorScorer]
) -> list[Array]:
    """The rows of scorers that are compared together: for each question one row per scorer."""
    questions = Questions.of(batch)
    texts = scorer.texts(questions)
    wanted = zip(*(one.encoders() for one in kin), strict=True)
    vectors = tuple(memory.encode(one[0].encoder, texts, {at for _, layers in one for at in layers}) for one in wanted)
    return list(scorer.statistics_of_all(kin, questions, vectors))


def marks(scorer: Scorer, batch: list[Question], memory: Memory, what: str) -> list[list[Span]]:
    """The errors that a scorer marks."""
    return scorer.spans(Questions.of(batch))


def encodings(encoder: Encoder, batch: list[str], memory: Memory, layers: tuple[int, ...]) -> list[Encoding]:
    """Texts as vectors."""
    found = memory.encode(encoder, batch, layers)
    return [found[text] for text in batch]


def fillers(masked: MaskedLM, batch: list[Gap], memory: Memory, top: int) -> list[list[Filler]]:
    """Words for gaps."""
    return masked.fill(batch, top)


def log_probabilities(causal: CausalLM, batch: list[str], memory: Memory) -> list[Matrix]:
    """Tokens' log-probabilities."""
    return [np.asarray(row, dtype=np.float32) for row in causal.log_probabilities(batch)]
