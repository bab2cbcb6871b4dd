"""Greedy matching of token vectors by cosine (Zhang et al. 2020, §3): pair by pair on a CPU, many at once on a GPU.

On a GPU every product has the same number of pairs and lengths by steps, so that the same kernel computes a pair in any
company. Vectors come from the engine's memory in one piece per layer.
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from babelquake.models.base import Matrix
from babelquake.models.batching import ROWS_ON_GPU, on_gpu
from babelquake.models.ribbon import STEP_ON_GPU
from babelquake.scorers.base import Array

if TYPE_CHECKING:
    from torch import Tensor

PRF = tuple[float, float, float]
"""Precision, recall and F."""


class Side:
    """A translation or a reference, ready to be matched: vectors per layer, and the tokens' shares."""

    def __init__(self, layers: list[Matrix], weights: Array) -> None:
        self.layers = layers
        self.empty = len(weights) <= 2  # bert-score takes every text of two tokens for an empty one
        total = weights.sum()
        self.weights = weights / total if total else np.full(len(weights), np.nan)

    @cached_property
    def units(self) -> list[Matrix]:
        """Vectors of length one."""
        return [normalised(layer) for layer in self.layers]


def match(pairs: Sequence[tuple[Side, Side]], device: str) -> list[list[PRF]]:
    """Precision, recall and F of every pair of a translation and a reference, layer by layer; 0 where one is empty."""
    found: list[list[PRF]] = [[(0.0, 0.0, 0.0)]] * len(pairs)
    full = [place for place, (one, other) in enumerate(pairs) if not (one.empty or other.empty)]
    some = [pairs[place] for place in full]
    matches = together(some, device) if on_gpu(device) else [_alone(one, other) for one, other in some]
    for place, match in zip(full, matches, strict=True):
        found[place] = match
    return found


def normalised(rows: Matrix) -> Matrix:
    """Rows of length one; a row of zeros stays as it is."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return np.asarray(rows / np.where(lengths > 0, lengths, np.float32(1))[:, None])


def _alone(translation: Side, reference: Side) -> list[PRF]:
    found = []
    for one, other in zip(translation.units, reference.units, strict=True):
        cosines = one @ other.T
        p = float(cosines.max(axis=1) @ translation.weights)
        found.append(_prf(p, float(cosines.max(axis=0) @ reference.weights)))
    return found


def _prf(p: float, r: float) -> PRF:
    f = 2 * p * r / (p + r) if p + r else 0.0
    return p, r, 0.0 if np.isnan(f) else f


def together(pairs: Sequence[tuple[Side, Side]], device: str) -> list[list[PRF]]:
    """The same by large products on a device."""
    import torch

    sides = list({id(side): side for pair in pairs for side in pair}.values())
    ends = np.cumsum([len(side.weights) for side in sides])
    starts = {id(side): int(end) - len(side.weights) for side, end in zip(sides, ends, strict=True)}
    groups: dict[tuple[int, int], list[int]] = defaultdict(list)
    for place, pair in enumerate(pairs):
        one, other = (-(-len(side.weights) // STEP_ON_GPU) * STEP_ON_GPU for side in pair)
        groups[one, other].append(place)
    found: list[list[PRF]] = [[] for _ in pairs]
    with torch.inference_mode():
        weights = torch.as_tensor(np.concatenate([*(side.weights for side in sides), [0.0]]), device=device)
        for layer in range(len(sides[0].layers) if sides else 0):
            rows = np.concatenate([side.layers[layer] for side in sides])
            units = torch.nn.functional.normalize(torch.as_tensor(rows, device=device), dim=1, eps=1e-30)
            units = torch.cat([units, units.new_zeros(1, units.shape[1])])  # what padding points at
            for lengths, group in groups.items():
                for begin in range(0, len(group), ROWS_ON_GPU):
                    places = group[begin : begin + ROWS_ON_GPU]
                    columns = zip(*(pairs[place] for place in places), strict=True)
                    where = (_places(*given, starts, len(rows)) for given in zip(columns, lengths, strict=True))
                    for place, pr in zip(places, _greedy(units, weights, *where), strict=False):
                        found[place].append(_prf(*pr))
    return found


def _places(sides: tuple[Side, ...], length: int, starts: dict[int, int], padding: int) -> NDArray[np.int64]:
    """Where the tokens of each side stand among all, filled up to one length and to a fixed number of sides."""
    found = np.full((ROWS_ON_GPU, length), padding)
    for row, side in enumerate(sides):
        count = len(side.weights)
        found[row, :count] = np.arange(starts[id(side)], starts[id(side)] + count)
    return found


def _greedy(units: "Tensor", weights: "Tensor", ones: NDArray[np.int64], others: NDArray[np.int64]) -> Any:
    """Precision and recall of each row's two texts."""
    import torch

    left, right = (torch.as_tensor(places, device=units.device) for places in (ones, others))
    cosines = torch.bmm(units[left], units[right].transpose(1, 2))
    padding = len(units) - 1
    none = torch.full((), float("-inf"), device=units.device)
    sums = []
    for own, other, axis in ((left, right, 2), (right, left, 1)):
        hidden = (other == padding).unsqueeze(3 - axis)
        best = torch.where(hidden, none, cosines).amax(axis).double()
        sums.append(torch.where(own == padding, 0.0, best * weights[own]).sum(1))
    return torch.stack(sums, dim=1).tolist()
