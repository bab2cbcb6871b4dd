"""Generators that ask: they yield what they want to know, are sent the answers, and return a result in the end.

Searches, perturbations that need a model and defences are written this way, so that whoever drives them decides when
and with whose questions they are answered. This is the one place that knows how Python's generators begin and end.
"""

from collections.abc import Callable, Generator, Sequence
from typing import Any, Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")
R = TypeVar("R")


class Dialogue(Generic[Q, A, R]):
    """A generator under way: what it asks now, or what it came to."""

    asked: Q
    """What it wants to know next, until it is over."""
    result: R
    """What it returned; there once it is over."""

    def __init__(self, generator: Generator[Q, A, R]) -> None:
        self._generator = generator
        self.over = False
        self._advance(lambda: next(generator))

    def tell(self, answers: A) -> None:
        """Answer what was asked."""
        self._advance(lambda: self._generator.send(answers))

    def _advance(self, step: Callable[[], Q]) -> None:
        try:
            self.asked = step()
        except StopIteration as end:
            self.result, self.over = end.value, True


def driven(generator: Generator[list[Q], list[A], R], answer: Callable[[list[Q]], Sequence[A]]) -> R:
    """The result of a generator whose questions are answered one list after another."""
    dialogue = Dialogue(generator)
    while not dialogue.over:
        dialogue.tell(list(answer(dialogue.asked)) if dialogue.asked else [])
    return dialogue.result


def together(generators: Sequence[Generator[list[Q], list[Any], R]]) -> Generator[list[Q], list[Any], list[R]]:
    """Independent generators in step, what they ask merged into one list; their results in order."""
    dialogues = [Dialogue(generator) for generator in generators]
    while waiting := [dialogue for dialogue in dialogues if not dialogue.over]:
        answers = iter((yield [question for dialogue in waiting for question in dialogue.asked]))
        for dialogue in waiting:
            dialogue.tell([next(answers) for _ in dialogue.asked])
    return [dialogue.result for dialogue in dialogues]
