"""How many questions the attack on one sentence may put to its victim."""

import math
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Budget:
    """Promises questions before they are asked: parts of a search ask side by side, and none must take what is gone."""

    def __init__(self, most: int | None) -> None:
        self.most = most
        self.spent = 0
        self.refused = False
        """Whether something could not be asked any more."""
        self._promised: set[tuple[str, str]] = set()

    @property
    def left(self) -> float:
        """How many questions may still be asked."""
        return math.inf if self.most is None else self.most - self.spent

    def some(self, things: Sequence[T], cost: int = 1) -> Sequence[T]:
        """All of them, or, where that would take every question left, as many, evenly apart, as half of these allow."""
        if cost * len(things) < self.left:
            return things
        self.refused = True
        return things[:: -(-len(things) // max(int(self.left) // (2 * cost), 1))] if things else things

    def within(self, places: Sequence[T]) -> Sequence[T]:
        """No more places than questions are left, evenly apart: every place gives candidates to ask about."""
        if len(places) <= self.left:
            return places
        self.refused = True
        return places[:: -(-len(places) // max(int(self.left), 1))]

    def take(self, what: str, text: str, cost: int = 1) -> bool:
        """Whether that may be asked about a text; what was promised once costs nothing from then on."""
        if self.most is None or (what, text) in self._promised:
            return True
        if cost > self.left:
            self.refused = True
            return False
        self._promised.add((what, text))
        self.spent += cost
        return True
