"""What a detector of failures is: a function with a card that looks at one translation and says what is wrong with it.

A detector receives a `Pair` – the source, the translation, both languages – and returns a `Failure` with its score and
evidence, or None. It says in its card what it needs and which languages it serves; where that is lacking it is not
asked, and no rate is given for it.
"""

import inspect
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeVar

from babelquake.failures.pair import Pair
from babelquake.languages import Language
from babelquake.registry import Registry

Need = Literal["source", "source language", "target language", "vectors", "injection", "exchange", "lines"]
Cost = Literal["free", "identifier", "encoder"]
COSTS: tuple[Cost, ...] = ("free", "identifier", "encoder")
Function = Callable[[Pair], "Failure | None"]
F = TypeVar("F", bound=Function)


class Failure(NamedTuple):
    """One thing that is wrong with one translation."""

    kind: str
    score: float
    """From 0 to 1: how much of it there is, or how sure the detector is; 1 where it is a fact."""
    evidence: str
    """What was seen, for people: words of the source or the translation."""
    spans: tuple[tuple[int, int], ...] = ()
    """Where in the translation, where it is a place in it."""


@dataclass(frozen=True)
class Card:
    """What is known of a detector without running it."""

    kind: str
    family: str
    needs: frozenset[Need]
    languages: tuple[str, ...]
    """Target languages it serves, and source languages where it needs vectors; empty for any."""
    cost: Cost
    paper: str
    function: Function = field(repr=False, compare=False)
    score: Callable[[Pair], float] | None = field(default=None, repr=False, compare=False)
    """How much of it there is in any translation, flagged or not; None where there is nothing between yes and no."""

    @property
    def description(self) -> str:
        """The docstring's first line."""
        return (inspect.getdoc(self.function) or "").split("\n", 1)[0]

    def serves(self, source: Language | None, target: Language | None, there: Collection[Need]) -> bool:
        """Whether it can speak about translations between these languages, beside which is `there` what it may need."""
        known = set(there)
        if target is not None:
            known.add("target language")
        if source is not None and (target is None or source.code != target.code):
            known.add("source language")
        if source is not None and source.code in self.languages:
            known.add("vectors")
        return self.needs <= known and (not self.languages or (target is not None and target.code in self.languages))


MODULES = ("language", "talking", "lengths", "numbers", "markup", "content", "detached", "injection")
"""The modules whose import registers detectors: one line per family."""

DETECTORS: Registry[Card] = Registry(
    "kind of failure",
    "babelquake.failures",
    modules=[f"babelquake.failures.{module}" for module in MODULES],
    listing="failures",
)


def description_of(kind: str) -> str:
    """What a kind of failure is, in one sentence."""
    return DETECTORS.get(kind).description if kind in DETECTORS.names() else "your rule"


def detector(
    kind: str,
    *,
    family: str,
    needs: Iterable[Need] = (),
    languages: Iterable[str] = (),
    cost: Cost = "free",
    paper: str = "",
    score: Callable[[Pair], float] | None = None,
) -> Callable[[F], F]:
    """Register a function as the detector of a kind of failure."""

    def register(function: F) -> F:
        card = Card(kind, family, frozenset(needs), tuple(languages), cost, paper, function, score)
        DETECTORS.register(kind, card)
        return function

    return register


def lost_and_added(lost: Sequence[str], added: Sequence[str]) -> str:
    """The first of what is missing in a translation, and of what it has beyond its source, as evidence."""
    return "; ".join(f"{word}: {' '.join(some[:5])}" for word, some in (("lost", lost), ("added", added)) if some)
