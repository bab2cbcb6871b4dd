"""Loading of models: in silence, without running anything that a file holds, and with a word where memory runs out.

Numbers of a network: float32 as trained, half precision, or eight-bit weights.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pickle import UnpicklingError
from typing import Any, Literal

from babelquake.errors import ResumableError, UserError, setting
from babelquake.resource import is_full


@contextmanager
def enough_memory(name: str) -> Iterator[None]:
    """Where memory runs out while this holds, the error says so, whatever the library made of it."""
    try:
        yield
    except Exception as error:
        if not is_full(error):
            raise
        raise ResumableError(
            f"not enough memory to load '{name}'. Finished work is kept. Free some memory, or use a smaller model, "
            f"precision=bfloat16 or another {setting('device')}."
        ) from error


@contextmanager
def only_numbers(name: str) -> Iterator[None]:
    """A pickle with more than numbers is refused, without torch's advice to load it all the same."""
    try:
        yield
    except UnpicklingError:
        raise UserError(
            f"the weights of '{name}' contain more than numbers – a pickle that could run code. "
            "Refused: expected safetensors, or tensors saved by torch."
        ) from None


@contextmanager
def loading(name: str) -> Iterator[None]:
    """In silence while a model loads; a pickle with more than numbers is refused, and missing memory is named."""
    with quietly(), enough_memory(name), only_numbers(name):
        yield


@contextmanager
def quietly() -> Iterator[None]:
    """Without the libraries' hints for programmers: what matters to users is an error or in the signature."""
    import logging
    import warnings

    from transformers.utils import logging as theirs

    loud = logging.getLogger("transformers")
    before, bars = loud.level, theirs.is_progress_bar_enabled()
    loud.setLevel(logging.ERROR)
    theirs.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        loud.setLevel(before)
        if bars:
            theirs.enable_progress_bar()  # type: ignore[no-untyped-call]


Precision = Literal["float32", "float16", "bfloat16", "int8"]
"""`int8` keeps each row of a weight matrix as 8-bit integers and one scale, and multiplies in float32."""


def in_precision(network: Any, precision: Precision) -> Any:
    """The network with its numbers in that precision, changed in place."""
    import torch

    if precision in ("float16", "bfloat16"):
        return network.to(getattr(torch, precision))
    network = network.to(torch.float32)
    if precision == "int8":
        for module in list(network.modules()):
            for name, child in list(module.named_children()):
                if type(child) is torch.nn.Linear:
                    setattr(module, name, _eight_bit(child))
    return network


def _eight_bit(linear: Any) -> Any:
    import torch

    class EightBit(torch.nn.Module):
        """A linear layer whose weights are integers from -127 to 127, scaled by row."""

        weight: torch.Tensor
        scale: torch.Tensor
        bias: torch.Tensor | None

        def __init__(self) -> None:
            super().__init__()
            weight = linear.weight.detach()
            scale = weight.abs().amax(dim=1, keepdim=True).clamp(min=1e-12) / 127
            self.register_buffer("weight", torch.round(weight / scale).to(torch.int8))
            self.register_buffer("scale", scale.squeeze(1))
            self.register_buffer("bias", None if linear.bias is None else linear.bias.detach())

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            """The same product as before, but for rounding."""
            found = torch.nn.functional.linear(x, self.weight.to(x.dtype)) * self.scale
            return found if self.bias is None else found + self.bias

    return EightBit()
