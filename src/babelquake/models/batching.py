"""Token sequences in batches of one length each: nothing is padded, and a sequence's company changes nothing.

Small batches are filled up with repeated rows, because products of few rows are computed, and rounded, in another way.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from babelquake.models.transformer import ROWS_ON_GPU, SMALLEST

if TYPE_CHECKING:
    import torch

TOKENS = 4096
"""Tokens of a batch on the CPU."""


class Together(NamedTuple):
    """Sequences of equal length that go through a network together."""

    places: list[int]
    """Which sequences they are; rows beyond these fill the batch up and mean nothing."""
    ids: "torch.Tensor"
    mask: "torch.Tensor"


def batches(sequences: Sequence[Sequence[int]], device: str, tokens: int = TOKENS) -> Iterator[Together]:
    """The sequences by length, longest first, so that the first batch shows whether the memory suffices."""
    import torch

    groups: dict[int, list[int]] = defaultdict(list)
    for place, sequence in enumerate(sequences):
        groups[len(sequence)].append(place)
    on_gpu = device.startswith("cuda")
    for length, group in sorted(groups.items(), reverse=True):
        rows = ROWS_ON_GPU if on_gpu else max(1, tokens // max(1, length))
        least = rows if on_gpu else -(-SMALLEST // max(1, length))
        for start in range(0, len(group), rows):
            places = group[start : start + rows]
            filled = [places[row % len(places)] for row in range(max(len(places), least))]
            ids = torch.tensor([list(sequences[place]) for place in filled], dtype=torch.long, device=device)
            yield Together(places, ids, torch.ones_like(ids))
