"""What an attack may ask, and generators that ask it.

A search yields a list of requests and is sent the list of replies. Whoever drives it decides when and with whose
requests they are answered: `together` merges generators of one sentence, the engine's pool those of many sentences.

Each kind of request is a class of its own, not a tuple: replies are remembered by request, and two kinds of request
about the same text must never be taken for each other.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from babelquake.resource import Gap

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Judgement:
    """The victim's raw score of a translation. Reply: a number."""

    translation: str
    references: tuple[str, ...] | None = None
    source: str | None = None


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


Request = Judgement | Perplexity | Gap | Closeness | Rendering | Agreement
"""A `Gap` asks for the masked model's words for it; the reply is a list of (word, probability)."""
Asking = Generator[list[Request], list[Any], R]
"""Yields requests, receives their replies in order, returns R in the end."""


def together(askings: Sequence[Asking[R]]) -> Asking[list[R]]:
    """Run independent generators in step and merge what they ask; their results in order."""
    results: dict[int, R] = {}
    waiting: dict[int, list[Request]] = {}
    for place, asking in enumerate(askings):
        _advance(asking, None, place, waiting, results)
    while waiting:
        asked = list(waiting.items())
        replies = yield [request for _, requests in asked for request in requests]
        start = 0
        for place, requests in asked:
            del waiting[place]
            _advance(askings[place], replies[start : start + len(requests)], place, waiting, results)
            start += len(requests)
    return [results[place] for place in range(len(askings))]


def _advance(
    asking: Asking[R],
    replies: list[Any] | None,
    place: int,
    waiting: dict[int, list[Request]],
    results: dict[int, R],
) -> None:
    try:
        waiting[place] = next(asking) if replies is None else asking.send(replies)
    except StopIteration as end:
        results[place] = end.value


class Memory:
    """What a search was told so far: nothing is asked twice, and questions to the victim are counted."""

    def __init__(self) -> None:
        self.replies: dict[Request, Any] = {}
        self.queries = 0
        """Distinct questions to the victim."""

    def remembering(self, asking: Asking[R]) -> Asking[R]:
        """The same generator, asking only what is not yet known."""
        try:
            requests = next(asking)
            while True:
                missing = [request for request in dict.fromkeys(requests) if request not in self.replies]
                if missing:
                    self.queries += sum(isinstance(request, (Judgement, Rendering)) for request in missing)
                    self.replies.update(zip(missing, (yield missing), strict=True))
                requests = asking.send([self.replies[request] for request in requests])
        except StopIteration as end:
            result: R = end.value
            return result
