"""Token sequences on their way through a network, and vectors on their way out: what a sequence gives never depends on
its company.

A `Block` holds sequences of one length, for any network. A ribbon (`sequence_reader`) has sequences of all lengths.
Neither is ever smaller than a few dozen tokens, because products of few rows are computed, and rounded, in another way;
on a GPU every one has the same shape, so that the same kernel computes each text.

Vectors stay on the GPU that computed them, where they are matched: copying takes longer than making them. Whoever looks
at a layer gets a copy in this machine's memory; so does whoever sends an encoding elsewhere.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from babelquake.models.base import Matrix

if TYPE_CHECKING:
    import torch
    from numpy.typing import NDArray
    from torch import Tensor


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


class OnDevice(Mapping[int, Matrix]):
    """The layers of one text, on a device."""

    def __init__(self, tensors: "dict[int, Tensor]") -> None:
        self.tensors = tensors

    def __getitem__(self, layer: int) -> Matrix:
        found: Matrix = self.tensors[layer].cpu().numpy()
        return found

    def __iter__(self) -> Iterator[int]:
        return iter(self.tensors)

    def __len__(self) -> int:
        return len(self.tensors)

    def __contains__(self, layer: object) -> bool:
        return layer in self.tensors

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


def sent(array: "NDArray[Any]", device: str) -> "Tensor":
    """An array on a device. A GPU fetches it by itself, after what it has to do before, and nobody waits."""
    import torch

    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if on_gpu(device) else tensor.to(device)


def stays(device: str) -> bool:
    """Whether vectors may stay there: on a GPU, as long as half of its memory is free."""
    if not on_gpu(device):
        return False
    import torch

    return torch.cuda.memory_allocated(device) < torch.cuda.get_device_properties(device).total_memory // 2


def apart(texts: "Sequence[Tensor]") -> "Sequence[Tensor]":
    """Copies of parts of one tensor, each with its own memory, so that it can be forgotten by itself."""
    import torch

    return torch._foreach_mul(list(texts), 1.0)  # one launch for all


def rows_of(layers: Mapping[int, Matrix], layer: int) -> Any:
    """One layer where it is: a tensor on its device, or an array."""
    return layers.tensors[layer] if isinstance(layers, OnDevice) else layers[layer]


def in_one_piece(parts: Sequence[Any], device: str) -> "Tensor":
    """Layers of several texts, one below the other, on a device."""
    import numpy as np
    import torch

    arrays = sum(isinstance(part, np.ndarray) for part in parts)
    if arrays == len(parts):
        return sent(np.concatenate(parts), device)
    return torch.cat([torch.as_tensor(part, device=device) for part in parts] if arrays else list(parts))


def on_host(parts: Sequence[Any], device: str) -> list[Matrix]:
    """The same layers as arrays in this machine's memory, fetched in one piece."""
    import numpy as np

    if all(isinstance(part, np.ndarray) for part in parts):
        return list(parts)
    whole = in_one_piece(parts, device).cpu().numpy()
    return np.split(whole, np.cumsum([len(part) for part in parts])[:-1])
