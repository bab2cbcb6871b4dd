"""A transparent victim and models made of dictionaries, so that the best answer is known by brute force."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pytest

from babelquake.attacks.attack import Attack, Outcome
from babelquake.attacks.constraints import Constraint
from babelquake.attacks.goal import Goal, Overpenalise
from babelquake.attacks.moves import Move
from babelquake.attacks.requests import (
    Agreement,
    Asking,
    Closeness,
    Perplexity,
    Rendering,
    Request,
)
from babelquake.attacks.sentence import Sentence
from babelquake.attacks.victim import Scale, ScorerVictim
from babelquake.generators import driven
from babelquake.resource import Gap
from babelquake.scorers.base import Question
from babelquake.text import words

R = TypeVar("R")
WORTH = {"cat": 3.0, "sat": 2.0, "mat": 1.0, "dog": 2.5, "lay": 0.5, "rug": 0.25, "red": 0.1, "the": 0.05}
"""What each word is worth to the toy metric; all others are worth nothing."""
FILLERS = (("dog", 0.4), ("red", 0.3), ("rug", 0.2), ("lay", 0.05))
NEIGHBOURS = {"cat": ("dog", "rug"), "sat": ("lay", "xyz"), "mat": ("rug",), "red": ("lay",)}


class Toys:
    """The toy world; tests take it as a fixture."""

    NEIGHBOURS = NEIGHBOURS
    FILLERS = FILLERS

    @staticmethod
    def worth(text: str) -> float:
        """The toy metric: the sum over words."""
        return sum(WORTH.get(span.text.lower(), 0.0) for span in words(text))

    @staticmethod
    def reply(request: Request) -> Any:
        """What the toy models say."""
        match request:
            case Question(translation, (reference,), _):
                shared = {span.text for span in words(translation)} & {span.text for span in words(reference)}
                return Toys.worth(translation) + 0.001 * len(shared)
            case Question(translation, _, _):
                return Toys.worth(translation)
            case Perplexity(text):
                return 4.0 * len(text)
            case Gap():
                return list(FILLERS)
            case Closeness(one, other):
                a, b = ({span.text for span in words(text)} for text in (one, other))
                return len(a & b) / max(len(a | b), 1)
            case Rendering(text):
                return text.upper()
            case Agreement(translation, clean):
                return 100.0 if translation == clean else 100.0 * len(translation) / max(len(clean), 1) - 30.0
        raise AssertionError(request)

    @staticmethod
    def driven(
        asking: Asking[R], answer: Callable[[Request], Any] | None = None, log: list[list[Request]] | None = None
    ) -> R:
        """Run one generator to its end."""

        def told(requests: list[Request]) -> list[Any]:
            if log is not None:
                log.append(requests)
            return [(answer or Toys.reply)(request) for request in requests]

        return driven(asking, told)

    @staticmethod
    def attack_on(
        text: str,
        moves: Sequence[Move],
        goal: Goal | None = None,
        constraints: Sequence[Constraint] = (),
        **options: Any,
    ) -> Attack:
        """An attack on the toy metric, not normalised."""
        return Attack(
            original=Sentence.of(text),
            victim=ScorerVictim(Scale(0.0, 1.0), None, None),
            goal=goal or Overpenalise(by=1.0),
            constraints=constraints,
            moves=moves,
            stop_words=lambda word: word.lower() in {"the", "on", "a"},
            **options,
        )

    @staticmethod
    def texts_reachable(text: str, moves: Sequence[Move], edits: int) -> set[str]:
        """Every text that so many single moves can make, by brute force."""
        reached = {text: Sentence.of(text)}
        for _ in range(edits):
            for sentence in list(reached.values()):
                for candidate in Toys.driven(Toys.attack_on(text, moves).candidates(sentence)):
                    reached.setdefault(candidate.text, candidate)
        return set(reached)

    @staticmethod
    def outcome(attack: Attack, search: Callable[[Attack], Asking[Any]]) -> Outcome:
        """The end of an attack."""
        return Toys.driven(attack.running(search))


@pytest.fixture(scope="session")
def toys() -> type[Toys]:
    """The toy world."""
    return Toys
