"""Many searches side by side: each is a generator that yields questions and receives answers (rule 3 of the house).

Alone, a search asks for a few dozen candidates at a time and leaves a model idle. The pool advances hundreds
of searches together and merges what they ask into one list, so that the engine can form full batches.
"""

import gc
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from babelquake.generators import Dialogue
from babelquake.models.base import CausalLM, Encoder, MaskedLM
from babelquake.resource import Resource
from babelquake.scorers.base import Question, Questions, Scorer
from babelquake.systems.base import System

if TYPE_CHECKING:
    from babelquake.engine.engine import Engine

Q = TypeVar("Q")
A = TypeVar("A")
R = TypeVar("R")


def pool(
    searches: Iterable[Generator[list[Q], list[A], R]], answer: Callable[[list[Q]], list[A]], width: int = 256
) -> Iterator[tuple[int, R]]:
    """Run generators to their end, at most `width` at once; yields (position, return value) as each finishes."""
    with seldom():
        yield from _advanced(searches, answer, width)


def _advanced(
    searches: Iterable[Generator[list[Q], list[A], R]], answer: Callable[[list[Q]], list[A]], width: int
) -> Iterator[tuple[int, R]]:
    waiting = enumerate(searches)
    active: dict[int, Dialogue[list[Q], list[A], R]] = {}
    while True:
        for position, search in islice(waiting, width - len(active)):
            active[position] = Dialogue(search)
        yield from _finished(active)
        if len(active) < width and (following := next(waiting, None)) is not None:  # some asked nothing at all
            active[following[0]] = Dialogue(following[1])
            continue
        if not active:
            return
        asked = [question for dialogue in active.values() for question in dialogue.asked]
        answers = answer(asked) if asked else []
        if len(answers) != len(asked):
            raise ValueError(f"{len(answers)} answers to {len(asked)} questions")
        one_by_one = iter(answers)
        for dialogue in active.values():
            dialogue.tell(list(islice(one_by_one, len(dialogue.asked))))
        yield from _finished(active)


def _finished(active: dict[int, Dialogue[list[Q], list[A], R]]) -> Iterator[tuple[int, R]]:
    """Searches that are over, taken out of those under way."""
    for position in [position for position, dialogue in active.items() if dialogue.over]:
        yield position, active.pop(position).result


@dataclass(frozen=True)
class Ask:
    """One question of a search to a resource other than its scorer: a gap to fill, a text to encode or to weigh."""

    resource: Resource
    what: Any
    option: Any = None
    """`top` for a masked language model, the layers for an encoder."""


def answer_all(engine: "Engine", asked: Sequence[Any], scorer: Scorer | None, stored: bool) -> list[Any]:
    """Answers in order: to a `Question` the score that `scorer` gives, to an `Ask` what its resource says."""
    groups: dict[tuple[int, Any], list[int]] = {}
    for place, one in enumerate(asked):
        group = (id(one.resource), one.option) if isinstance(one, Ask) else (0, None)
        groups.setdefault(group, []).append(place)
    found: list[Any] = [None] * len(asked)
    for places in groups.values():
        first, some = asked[places[0]], [asked[place] for place in places]
        told = _told(engine, first, some, stored) if isinstance(first, Ask) else _scores(engine, scorer, some, stored)
        for place, answer in zip(places, told, strict=True):
            found[place] = answer
    return found


def _told(engine: "Engine", first: Ask, asks: Sequence[Ask], stored: bool) -> list[Any]:
    what = [ask.what for ask in asks]
    match first.resource:
        case Scorer() as scorer:
            return _scores(engine, scorer, what, stored)
        case MaskedLM() as masked:
            return engine.fill(masked, what, first.option or 50, stored)
        case CausalLM() as causal:
            return engine.log_probabilities(causal, what, stored)
        case Encoder() as encoder:
            vectors = engine.encode(encoder, what, first.option or (0,))
            return [vectors[text] for text in what]
        case System() as system:
            return engine.translate(system, what)
    raise TypeError(f"{first.resource!r} is nothing that can be asked")


def _scores(engine: "Engine", scorer: Scorer | None, questions: Sequence[Question], stored: bool) -> list[float]:
    if scorer is None:
        raise TypeError("a search asks questions, but no scorer was given")
    scores: list[float] = scorer.score_rows(engine.judge(scorer, Questions.of(questions), stored)).tolist()
    return scores


TIMES = 100
"""How many times as many new objects there must be before garbage is looked for."""


@contextmanager
def seldom() -> Iterator[None]:
    """While this holds, what is there already is not looked at, and what is new seldom.

    Python otherwise goes through every object of every library again and again: a quarter of a second each time, and a
    tenth of what a search takes.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(before[0] * TIMES, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
