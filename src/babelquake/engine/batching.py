"""How a long list becomes calls: batches under a callee's limits, halved where memory runs out."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from babelquake.callee import Limits

Q = TypeVar("Q")
A = TypeVar("A")


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


def halving(answer: Callable[[list[Q]], list[A]], batch: list[Q]) -> list[A]:
    """Answer a batch; where memory runs out, answer its halves instead."""
    try:
        return answer(batch)
    except (MemoryError, RuntimeError) as error:
        if len(batch) == 1 or not (isinstance(error, MemoryError) or "out of memory" in str(error).lower()):
            raise
    middle = len(batch) // 2
    return halving(answer, batch[:middle]) + halving(answer, batch[middle:])
