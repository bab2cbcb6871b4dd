"""Keyed random streams: the draws for a text depend on the key alone, never on what was drawn before it.

A stream's key is (seed, perturbation signature, text, replicate). So order, batch size, number of workers and resuming
change nothing. The generator is counter-based: block n of the stream is BLAKE2b of the number n and the key's own
hash, eight draws of 53 bits each, and block 0 is that hash itself. There is no state to fill, so a stream that is asked
for a few numbers costs one hash, where a Mersenne Twister would seed 624 words first.
"""

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from math import log1p
from struct import Struct
from typing import TypeVar

T = TypeVar("T")

BLOCK = Struct("<8Q").unpack
UNIT = 2.0**-53
NEVER = 1e-300
"""Probabilities below this have no success in any number of trials that fits into memory."""
SEPARATOR = "\x1f"
"""Stands between the parts of a key: `Stream(a, b)` is `Stream(f"{a}{SEPARATOR}{b}")`."""


def _draws(key: bytes) -> Iterator[float]:
    """Numbers in [0, 1) without end, eight to a block."""
    digest = block = blake2b(key).digest()
    number = 0
    while True:
        for bits in BLOCK(block):
            yield (bits >> 11) * UNIT
        number += 1
        block = blake2b(b"%d\x1f%b" % (number, digest)).digest()


class Stream:
    """Random draws for one key."""

    __slots__ = ("random",)

    random: Callable[[], float]
    """The next number in [0, 1)."""

    def __init__(self, key: object, *more: object) -> None:
        words = SEPARATOR.join(map(str, (key, *more))) if more else str(key)
        self.random = _draws(words.encode("utf-8", "surrogatepass")).__next__

    def chance(self, probability: float) -> bool:
        """True with the given probability; never at 0, always at 1."""
        return self.random() < probability

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1."""
        return int(self.random() * n)

    def choice(self, items: Sequence[T]) -> T:
        """One item, all equally likely."""
        return items[int(self.random() * len(items))]

    def hits(self, n: int, probability: float) -> list[int]:
        """Which of `n` independent trials succeed, in ascending order: one draw per success, not per trial.

        The number of failures before the next success is geometric: ⌊log(1 − u) / log(1 − probability)⌋.
        """
        if probability < NEVER:
            return []
        if probability >= 1:
            return list(range(n))
        found: list[int] = []
        draw, miss = self.random, log1p(-probability)
        at = int(log1p(-draw()) / miss)
        while at < n:
            found.append(at)
            at += 1 + int(log1p(-draw()) / miss)
        return found

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
