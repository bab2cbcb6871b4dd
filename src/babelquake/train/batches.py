"""Batches of texts of about the same length, made in a thread ahead of the GPU; and what is masked in them.

The stream of batches is a function of the seed alone.
"""

import queue
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from babelquake.train.corpus import Integers, Ragged

Item = TypeVar("Item")
POOL = 64
"""Batches whose texts are sorted by length together."""
WIDTH = 8
"""Rows are padded to a multiple of this many tokens."""
IGNORED = -100
"""The target of a position that is not to be predicted, as PyTorch's cross-entropy has it."""


@dataclass(frozen=True)
class Masked:
    """Tokens with some of them hidden: `positions` are places in the flattened batch, `targets` what stood there."""

    tokens: Integers
    attention: NDArray[np.bool_]
    positions: NDArray[np.int64]
    targets: NDArray[np.int64]


@dataclass(frozen=True)
class Masking:
    """How tokens are hidden (Devlin et al. 2019, §3.1): 80 % of the chosen become `mask`, 10 % a random token.

    A unit is a token, or, where `space` is given, a run of tokens up to the next `space`. Tokens below `ordinary[0]` or
    from `ordinary[1]` on are special: never chosen, never drawn.
    """

    mask: int
    ordinary: tuple[int, int]
    share: float = 0.15
    space: int | None = None
    always: bool = False
    """Every chosen token becomes the mask: how accuracy is measured."""

    def apply(self, tokens: Integers, lengths: NDArray[np.int64], rng: np.random.Generator) -> Masked:
        """Hide a share of the units of a padded batch."""
        attention = np.arange(tokens.shape[1]) < lengths[:, None]
        open_ = attention & (tokens >= self.ordinary[0]) & (tokens < self.ordinary[1])
        units = np.arange(tokens.size).reshape(tokens.shape)
        if self.space is not None:
            starts = tokens == self.space
            starts[:, 0] = True
            open_ &= tokens != self.space
            units = np.cumsum(starts.ravel()).reshape(tokens.shape) - 1
        count = int(units.max()) + 1
        chosen = open_ & (rng.random(count) < self.share)[units]
        fate = rng.random(count)[units]
        hidden = tokens.copy()
        masks = chosen & (fate < 0.8) if not self.always else chosen
        hidden[masks] = self.mask
        if not self.always:
            randoms = chosen & (fate >= 0.9)
            hidden[randoms] = rng.integers(*self.ordinary, size=int(randoms.sum()), dtype=np.int32)
        positions = np.flatnonzero(chosen)
        return Masked(hidden, attention, positions, tokens.ravel()[positions].astype(np.int64))


def groups(lengths: NDArray[np.int64], budget: int, rng: np.random.Generator | None) -> Iterator[NDArray[np.int64]]:
    """Row numbers batch by batch: at most `budget` tokens each when padded; in random order, or by length alone."""
    if not len(lengths):
        return
    order = np.arange(len(lengths)) if rng is None else rng.permutation(len(lengths))
    pool = max(1, POOL * budget // max(1, int(lengths.mean()))) if rng is not None else len(order)
    for start in range(0, len(order), pool):
        rows = order[start : start + pool]
        rows = rows[np.argsort(lengths[rows], kind="stable")]
        batches: list[NDArray[np.int64]] = []
        begin = 0
        widths = -(-lengths[rows] // WIDTH) * WIDTH
        for end in range(1, len(rows) + 1):
            if end == len(rows) or (end + 1 - begin) * widths[end] > budget:
                batches.append(rows[begin:end])
                begin = end
        for number in range(len(batches)) if rng is None else rng.permutation(len(batches)):
            yield batches[number]


def padded(rows: Ragged, chosen: NDArray[np.int64], pad: int) -> tuple[Integers, NDArray[np.int64]]:
    """Some rows as one rectangle, and their lengths."""
    lengths = rows.lengths[chosen]
    width = -(-int(lengths.max()) // WIDTH) * WIDTH
    taken = rows.take(chosen)
    rectangle = np.full((len(chosen), width), pad, np.int32)
    rectangle[np.arange(width) < lengths[:, None]] = taken.values
    return rectangle, lengths


def tokenised(tokenizer: Any, texts: Sequence[str], length: int) -> Ragged:
    """Texts as rows of token numbers, special tokens included; a long text is cut."""
    rows: list[list[int]] = []
    for start in range(0, len(texts), 10000):
        part = list(texts[start : start + 10000])
        rows += tokenizer(part, truncation=True, max_length=length, return_attention_mask=False)["input_ids"]
    return Ragged.of(rows)


def repeated(rows: Ragged, times: Sequence[int]) -> Ragged:
    """Rows, each as often as an epoch reads it."""
    return rows if all(count == 1 for count in times) else rows.take(np.repeat(np.arange(len(rows)), times))


def endless(
    lengths: NDArray[np.int64], budget: int, seed: int
) -> Iterator[tuple[NDArray[np.int64], np.random.Generator]]:
    """Batches of row numbers epoch after epoch, each with its own random stream."""
    epoch = 0
    while True:
        for number, rows in enumerate(groups(lengths, budget, np.random.default_rng([seed, epoch]))):
            yield rows, np.random.default_rng([seed, epoch, number])
        epoch += 1


def ahead(items: Iterable[Item], count: int = 16) -> Iterator[Item]:
    """The same items, made by a thread up to `count` ahead of their use; the thread ends when the reader does."""
    waiting: queue.Queue[tuple[Item | None, BaseException | None]] = queue.Queue(count)
    stopped = threading.Event()

    def put(entry: tuple[Item | None, BaseException | None]) -> bool:
        while not stopped.is_set():
            try:
                waiting.put(entry, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def work() -> None:
        try:
            for item in items:
                if not put((item, None)):
                    return
            put((None, StopIteration()))
        except BaseException as problem:
            put((None, problem))

    threading.Thread(target=work, daemon=True).start()
    try:
        while True:
            item, problem = waiting.get()
            if isinstance(problem, StopIteration):
                return
            if problem is not None:
                raise problem
            yield item  # type: ignore[misc]
    finally:
        stopped.set()
