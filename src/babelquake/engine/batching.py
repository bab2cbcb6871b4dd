"""How a long list becomes calls: batches under a resource's limits."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from babelquake.resource import Limits

Q = TypeVar("Q")


def in_batches(items: Sequence[Q], limits: Limits, length: Callable[[Q], int]) -> list[list[Q]]:
    """Cut a list into batches that respect the number of items and of characters; an item too long goes alone."""
    batches: list[list[Q]] = []
    characters = 0
    for item in items:
        size = length(item)
        full = batches and (
            len(batches[-1]) >= limits.texts
            or (limits.characters is not None and characters + size > limits.characters)
        )
        if not batches or full:
            batches.append([])
            characters = 0
        batches[-1].append(item)
        characters += size
    return batches
