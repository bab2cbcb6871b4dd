"""What happens below and a reader of the results must know: texts that a model cut, answers that a judge refused.

Whoever notices it counts a warning; it is logged – during a run the first time only – and counted by whoever collects:
a run, which puts the count into its notes. What a worker elsewhere warns of is repeated here. What comes from a cache
was counted when it was computed.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")
Said = list[tuple[str, list[str] | int]]
_OPEN: "list[Warnings]" = []


class Warnings:
    """Counts of what was warned of; a text counts once, however often it is met."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._met: set[tuple[str, str]] = set()
        self._lock = Lock()

    def add(self, what: str, texts: Iterable[str] | int) -> None:
        """Count texts, or so many of something that has no name."""
        with self._lock:
            if isinstance(texts, int):
                self._counts[what] += texts
                return
            new = {(what, text) for text in texts} - self._met
            self._met |= new
            self._counts[what] += len(new)

    def knows(self, what: str) -> bool:
        """Whether it was counted before."""
        return what in self._counts

    def take(self) -> dict[str, int]:
        """What was counted since the last time."""
        with self._lock:
            found, self._counts = dict(self._counts), Counter()
        return found


class WorkerWarnings(Warnings):
    """Warnings of a worker elsewhere, as they were made; they are logged where they are repeated."""

    def __init__(self) -> None:
        super().__init__()
        self.said: Said = []

    def add(self, what: str, texts: Iterable[str] | int) -> None:
        """Remember a warning."""
        self.said.append((what, texts if isinstance(texts, int) else list(texts)))

    def knows(self, what: str) -> bool:
        """Nothing is to be logged here."""
        return True


def with_warnings(function: Callable[[A], B], batch: A) -> tuple[B, Said]:
    """In a worker elsewhere: what a function makes of a batch, with its warnings on the way."""
    warnings = WorkerWarnings()
    _OPEN.append(warnings)
    try:
        return function(batch), warnings.said
    finally:
        _OPEN.remove(warnings)


def warned_again(found: tuple[B, Said]) -> B:
    """What was found elsewhere; its warnings are counted here once more."""
    answer, said = found
    for what, texts in said:
        count_warning(what, texts)
    return answer


@contextmanager
def collecting() -> Iterator[Warnings]:
    """Collect the warnings counted while the context lasts."""
    warnings = Warnings()
    _OPEN.append(warnings)
    try:
        yield warnings
    finally:
        _OPEN.remove(warnings)


def count_warning(what: str, texts: Iterable[str] | int) -> None:
    """Say and count something: `count_warning("texts cut to the length that minilm-en can read", texts)`."""
    known = texts if isinstance(texts, int) else list(texts)
    count = known if isinstance(known, int) else len(known)
    if not count:
        return
    if not any(warnings.knows(what) for warnings in _OPEN):
        logging.getLogger("babelquake").warning("%s", with_count(what, count))
    for warnings in _OPEN:
        warnings.add(what, known)


def with_count(what: str, count: int) -> str:
    """A warning with its count, as notes say it."""
    return f"{what}: {count:,}."
