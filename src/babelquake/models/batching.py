"""Token sequences on their way through a network: what a sequence gives never depends on its company.

A `Block` holds sequences of one length, for any network. A ribbon (`unpadded`) has sequences of all lengths. Neither
is ever smaller than a few dozen tokens, because products of few rows are computed, and rounded, in another way; on a
GPU every one has the same shape, so that the same kernel computes each text.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import torch

TOKENS = 2048
"""Tokens that go through a network together on the CPU."""
TIMES_ON_GPU = 4
"""How many times as many tokens a GPU reads in one row: a small network is done before the next row is ready."""
SMALLEST = 128
"""Tokens that go through it at least."""
ROWS_ON_GPU = 64
"""Rows of every block on a GPU."""
CHUNK = 512
"""Rows that go through the last layer of a network together."""
Tokens = Sequence[Sequence[int]]


class Sheet(Protocol):
    """Sequences laid out for a network."""

    @property
    def inputs(self) -> dict[str, Any]:
        """What the network is called with."""

    def texts(self, state: "torch.Tensor") -> "list[torch.Tensor]":
        """What the network found, by sequence: one row per token."""

    def equals(self) -> "list[tuple[list[int], Callable[[torch.Tensor], torch.Tensor]]]":
        """Which sequences have one length, and how their rows are taken from what the network found, one text a row."""


@dataclass(frozen=True)
class Block:
    """Sequences of one length, one a row; rows are repeated until there are enough."""

    inputs: dict[str, Any]
    count: int

    @classmethod
    def of(cls, sequences: Tokens, device: str, types: Tokens | None = None) -> "Block":
        """The sequences as a matrix; `types` tells the texts of a pair apart."""
        import torch

        length = len(sequences[0])
        least = ROWS_ON_GPU if on_gpu(device) else -(-SMALLEST // max(1, length))

        def matrix(rows: Tokens) -> "torch.Tensor":
            filled = [list(rows[row % len(rows)]) for row in range(max(len(rows), least))]
            return torch.tensor(filled, dtype=torch.long, device=device)

        ids = matrix(sequences)
        inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        return cls(inputs if types is None else {**inputs, "token_type_ids": matrix(types)}, len(sequences))

    def texts(self, state: "torch.Tensor") -> "list[torch.Tensor]":
        """One matrix per sequence."""
        return list(state[: self.count])

    def equals(self) -> "list[tuple[list[int], Callable[[torch.Tensor], torch.Tensor]]]":
        """All of them, and the rows that fill the block up."""
        return [(list(range(self.count)), lambda state: state)]


def on_gpu(device: str) -> bool:
    """Whether a device is a GPU."""
    return device.startswith("cuda")


def equal(sequences: Tokens, device: str, tokens: int = TOKENS) -> Iterator[list[int]]:
    """Places of sequences of equal length, longest first, so that the first block shows whether the memory suffices.

    Sequences without tokens are left out.
    """
    groups: dict[int, list[int]] = defaultdict(list)
    for place, sequence in enumerate(sequences):
        if len(sequence):
            groups[len(sequence)].append(place)
    for length, group in sorted(groups.items(), reverse=True):
        rows = ROWS_ON_GPU if on_gpu(device) else max(1, tokens // length)
        for start in range(0, len(group), rows):
            yield group[start : start + rows]


def mixed(sequences: Tokens, tokens: int = TOKENS, step: int = 1) -> Iterator[list[int]]:
    """Places of sequences that have at most so many tokens together, longest first; empty ones are left out.

    Each counts as long as it is when filled up to a multiple of `step`.
    """
    lengths = [-(-len(one) // step) * step for one in sequences]
    order = sorted((place for place, length in enumerate(lengths) if length), key=lambda place: -len(sequences[place]))
    portion: list[int] = []
    size = 0
    for place in order:
        if portion and size + lengths[place] > tokens:
            yield portion
            portion, size = [], 0
        portion.append(place)
        size += lengths[place]
    if portion:
        yield portion


def chunks(rows: "torch.Tensor") -> "Iterator[tuple[slice, torch.Tensor]]":
    """Rows for the last layer of a network, some at a time: which they are, and `enough` of them."""
    for start in range(0, len(rows), CHUNK):
        part = rows[start : start + CHUNK]
        yield slice(start, start + len(part)), enough(part)


def enough(rows: "torch.Tensor") -> "torch.Tensor":
    """Rows for the last layer of a network, the first one repeated until there are enough."""
    import torch

    least = -(-len(rows) // CHUNK) * CHUNK if on_gpu(str(rows.device)) else SMALLEST
    missing = max(0, least - len(rows))
    return torch.cat([rows, rows[:1].expand(missing, *rows.shape[1:])]) if missing else rows
