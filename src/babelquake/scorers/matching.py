"""Greedy matching of token vectors by cosine (Zhang et al. 2020, §3): pair by pair on a CPU, many at once on a GPU.

On a GPU every product has the same number of pairs and lengths by steps, so that the same kernel computes a pair in any
company. Nothing waits for the GPU before all pairs are on their way.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from babelquake.models.base import Matrix
from babelquake.models.batching import ROWS_ON_GPU, on_gpu
from babelquake.models.device_vectors import in_one_piece, sent
from babelquake.scorers.base import Array

if TYPE_CHECKING:
    from torch import Tensor

STEP = 32
"""On a GPU texts are padded to a multiple of so many tokens: the fewer lengths there are, the fewer products."""
EMPTY = 2
"""Tokens of an empty text: bert-score takes every text of two tokens for one."""


class Side:
    """A translation or a reference, ready to be matched: its vectors in each view, and its tokens' shares."""

    def __init__(self, layers: list[Any], shares: Array) -> None:
        self.layers = layers
        """Arrays, or tensors on the device where they are matched."""
        self.shares = shares
        self.empty = len(shares) <= EMPTY

    @cached_property
    def units(self) -> list[Matrix]:
        """Vectors of length one."""
        return [normalised(layer) for layer in self.layers]


def shares(weights: Array, counts: Sequence[int]) -> list[Array]:
    """Tokens' weights, text after text, as shares of their text's sum; NaN where no token has any."""
    sizes = np.asarray(counts)
    ends = np.cumsum(sizes)
    full = sizes > 0
    with np.errstate(invalid="ignore"):
        totals = np.add.reduceat(weights, (ends - sizes)[full]) if full.any() else np.zeros(0)
        return np.split(weights / np.repeat(totals, sizes[full]), ends[:-1])


def match(pairs: Sequence[tuple[Side, Side]], device: str) -> Array:
    """Precision, recall and F of every pair of a translation and a reference, view by view; 0 where one is empty."""
    full = [place for place, (one, other) in enumerate(pairs) if not (one.empty or other.empty)]
    found = np.zeros((len(pairs), len(pairs[0][0].layers) if pairs else 0, 3))
    if full:
        some = [pairs[place] for place in full]
        found[full, :, :2] = together(some, device) if on_gpu(device) else [_alone(*pair) for pair in some]
    p, r = found[..., 0], found[..., 1]
    with np.errstate(invalid="ignore"):
        found[..., 2] = np.nan_to_num(np.divide(2 * p * r, p + r, out=np.zeros_like(p), where=p + r != 0))
    return found


def normalised(rows: Matrix) -> Matrix:
    """Rows of length one; a row of zeros stays as it is."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return np.asarray(rows / np.where(lengths > 0, lengths, np.float32(1))[:, None])


def _alone(translation: Side, reference: Side) -> list[tuple[float, float]]:
    found = []
    for one, other in zip(translation.units, reference.units, strict=True):
        cosines = one @ other.T
        found.append((cosines.max(axis=1) @ translation.shares, cosines.max(axis=0) @ reference.shares))
    return found


def together(pairs: Sequence[tuple[Side, Side]], device: str) -> Array:
    """Precision and recall of every pair, view by view, by large products on a device."""
    import torch

    sides = list({id(side): side for pair in pairs for side in pair}.values())
    number = {id(side): place for place, side in enumerate(sides)}
    counts = np.array([len(side.shares) for side in sides])
    texts = np.array([(number[id(one)], number[id(other)]) for one, other in pairs])
    steps = (-(-counts // STEP) * STEP)[texts]
    order = np.lexsort(steps.T)
    blocks = list(_blocks(steps[order]))
    chosen = order[np.concatenate([rows for rows, _ in blocks])]
    spans = np.stack([np.cumsum(counts) - counts, counts])[:, texts[chosen]]
    with torch.inference_mode():
        where = sent(spans, device)
        weights = sent(np.concatenate([*(side.shares for side in sides), [0.0]]), device)
        views = [
            _units(in_one_piece([side.layers[view] for side in sides], device)) for view in range(len(sides[0].layers))
        ]
        found = []
        for place, (_, lengths) in enumerate(blocks):
            block = where[:, place * ROWS_ON_GPU : (place + 1) * ROWS_ON_GPU]
            ones, others = (_places(block[..., side], lengths[side], len(weights) - 1) for side in (0, 1))
            found.append(torch.stack([_greedy(units, weights, ones, others) for units in views], dim=1))
        values = torch.cat(found).cpu().numpy()
    result: Array = np.empty((len(pairs), *values.shape[1:]))
    result[chosen] = values
    return result


def _blocks(lengths: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], tuple[int, int]]]:
    """Pairs of the same two lengths, so many at a time: their places, the last repeated until there are enough."""
    changes = np.flatnonzero((lengths[1:] != lengths[:-1]).any(axis=1)) + 1
    for start, stop in zip([0, *changes], [*changes, len(lengths)], strict=True):
        for begin in range(start, stop, ROWS_ON_GPU):
            yield np.minimum(np.arange(begin, begin + ROWS_ON_GPU), stop - 1), tuple(lengths[start].tolist())


def _units(rows: "Tensor") -> "Tensor":
    """Vectors of length one, and below them the zeros that padding points at."""
    import torch

    units = torch.nn.functional.normalize(rows, dim=1, eps=1e-30)
    return torch.cat([units, units.new_zeros(1, units.shape[1])])


def _places(spans: "Tensor", length: int, padding: int) -> "Tensor":
    """Where the tokens of each text stand among all, filled up to one length."""
    import torch

    starts, counts = spans[..., None]
    within = torch.arange(length, device=spans.device)
    return torch.where(within < counts, starts + within, padding)


def _greedy(units: "Tensor", weights: "Tensor", ones: "Tensor", others: "Tensor") -> "Tensor":
    """Precision and recall of each row's two texts; padding has no weight and is nobody's best."""
    import torch

    cosines = torch.bmm(units[ones], units[others].transpose(1, 2))
    padding = len(units) - 1
    best = (
        cosines.masked_fill((others == padding)[:, None], -torch.inf).amax(2),
        cosines.masked_fill((ones == padding)[:, :, None], -torch.inf).amax(1),
    )
    sums = [(own.double() * weights[places]).sum(1) for own, places in zip(best, (ones, others), strict=True)]
    return torch.stack(sums, dim=1)
