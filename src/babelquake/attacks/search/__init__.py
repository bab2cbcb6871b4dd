"""How to walk from a sentence to one that meets the goal. Read a search and you have read its paper's algorithm."""

from babelquake.attacks.search.genetic import genetic
from babelquake.attacks.search.greedy import beam, greedy_by_importance, least_important_first

__all__ = ["beam", "genetic", "greedy_by_importance", "least_important_first"]
