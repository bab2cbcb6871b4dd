"""How many questions the attack on one sentence may put to its victim."""

import math


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
