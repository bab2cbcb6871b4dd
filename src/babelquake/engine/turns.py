"""Scorers in turn: one model in memory at a time."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from babelquake.scorers.base import Scorer, VectorScorer

S = TypeVar("S", bound=Scorer)


def sharing(scorers: Iterable[S]) -> list[list[S]]:
    """Scorers in groups, each group with the models it needs in memory: those of one encoder belong together."""
    groups: dict[tuple[str, ...] | int, list[S]] = {}
    for scorer in scorers:
        key: tuple[str, ...] | int = id(scorer)
        if isinstance(scorer, VectorScorer):
            key = tuple(wanted.encoder.signature for wanted in scorer.encoders())
        groups.setdefault(key, []).append(scorer)
    return list(groups.values())


def in_turn(scorers: Iterable[S]) -> Iterator[S]:
    """Scorers one after another, those of one encoder together; each group gives its models back before the next.

    A group that is alone keeps them: nothing comes after it, and what asks it again need not load it again.
    """
    groups = list(sharing(scorers))
    for group in groups:
        yield from group
        if len(groups) > 1:
            for scorer in group:
                scorer.close()
