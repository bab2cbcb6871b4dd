"""Vectors that stay on the GPU that computed them, where they are matched: copying takes longer than making them.

Whoever looks at a layer gets a copy in this machine's memory; so does whoever sends an encoding elsewhere.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from babelquake.models.base import Matrix
from babelquake.models.batching import on_gpu

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor


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
