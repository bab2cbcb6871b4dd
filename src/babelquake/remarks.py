"""What happens below and a reader of the results must know: texts that a model cut, answers that a judge refused.

Whoever notices it makes a remark; it is logged – during a run the first time only – and counted by whoever collects:
a run, which puts the count into its notes. What comes from a cache was remarked on when it was computed.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock

_OPEN: "list[Remarks]" = []


class Remarks:
    """Counts of what was remarked on; a text counts once, however often it is met."""

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
        """Whether it was remarked on before."""
        return what in self._counts

    def take(self) -> dict[str, int]:
        """What was counted since the last time."""
        with self._lock:
            found, self._counts = dict(self._counts), Counter()
        return found


@contextmanager
def collecting() -> Iterator[Remarks]:
    """Collect the remarks made while the context lasts."""
    remarks = Remarks()
    _OPEN.append(remarks)
    try:
        yield remarks
    finally:
        _OPEN.remove(remarks)


def remark(what: str, texts: Iterable[str] | int) -> None:
    """Say and count something: `remark("minilm-en read the first 512 tokens only of texts", texts)`."""
    known = texts if isinstance(texts, int) else list(texts)
    count = known if isinstance(known, int) else len(known)
    if not count:
        return
    if not any(remarks.knows(what) for remarks in _OPEN):
        logging.getLogger("babelquake").warning("%s", noted(what, count))
    for remarks in _OPEN:
        remarks.add(what, known)


def noted(what: str, count: int) -> str:
    """A remark with its count, as notes say it."""
    return f"{what}: {count:,}."
