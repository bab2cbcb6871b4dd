"""Many searches side by side: each is a generator that yields questions and receives answers (rule 3 of the house).

Alone, a search asks for a few dozen candidates at a time and leaves a model idle. The pool advances hundreds
of searches together and merges what they ask into one list, so that the engine can form full batches.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice
from typing import TypeVar

from babelquake.engine.garbage import seldom

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
    waiting = iter(enumerate(searches))
    active: dict[int, tuple[Generator[list[Q], list[A], R], list[Q]]] = {}
    exhausted = False
    while active or not exhausted:
        while len(active) < width and not exhausted:
            if (following := next(waiting, None)) is None:
                exhausted = True
                break
            position, search = following
            try:
                active[position] = (search, next(search))
            except StopIteration as end:
                yield position, end.value
        if not active:
            return
        asked = [question for _, questions in active.values() for question in questions]
        answers = answer(asked) if asked else []
        if len(answers) != len(asked):
            raise ValueError(f"{len(answers)} answers to {len(asked)} questions")
        one_by_one = iter(answers)
        for position, (search, questions) in list(active.items()):
            try:
                active[position] = (search, search.send(list(islice(one_by_one, len(questions)))))
            except StopIteration as end:
                del active[position]
                yield position, end.value
