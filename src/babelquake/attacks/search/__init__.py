"""How to walk from a sentence to one that meets the goal. Read a search and you have read its paper's algorithm."""

from babelquake.attacks.search.genetic import genetic
from babelquake.attacks.search.greedy import beam, climb, greedy_by_importance, least_important_first, once

__all__ = ["beam", "climb", "genetic", "greedy_by_importance", "least_important_first", "once"]
