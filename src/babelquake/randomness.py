"""Keyed random streams: the draws for a text depend on the key alone, never on what was drawn before it.

A stream's key is (seed, perturbation signature, text, replicate), hashed with BLAKE2b. So order, batch size, number of
workers and resuming change nothing. Draws use `random.Random.random`, whose sequence Python guarantees for a seed.
"""

import hashlib
from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Stream:
    """Random draws for one key."""

    __slots__ = ("random",)

    def __init__(self, *key: object) -> None:
        data = "\x1f".join(map(str, key)).encode("utf-8", "surrogatepass")
        self.random = Random(int.from_bytes(hashlib.blake2b(data, digest_size=16).digest(), "little")).random
        """The next number in [0, 1)."""

    def chance(self, probability: float) -> bool:
        """True with the given probability; never at 0, always at 1."""
        return self.random() < probability

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1."""
        return int(self.random() * n)

    def choice(self, items: Sequence[T]) -> T:
        """One item, all equally likely."""
        return items[int(self.random() * len(items))]

    def sample(self, n: int, k: int) -> list[int]:
        """`k` different whole numbers below `n`, in ascending order."""
        picked: set[int] = set()
        for top in range(n - min(k, n), n):
            draw = self.below(top + 1)
            picked.add(top if draw in picked else draw)
        return sorted(picked)

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The items in random order (Fisher–Yates)."""
        order = list(items)
        for last in range(len(order) - 1, 0, -1):
            swap = self.below(last + 1)
            order[last], order[swap] = order[swap], order[last]
        return order
