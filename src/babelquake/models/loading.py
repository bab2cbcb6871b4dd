"""How models are loaded and run: on which device, with or without a hub, in silence, in which precision, with products
that a device computes quickly. No code that a file holds is run, and where memory runs out the error says so.

The command line sets device and hub from `--device` and `--offline`; in Python, `babelquake.models.configure` does.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pickle import UnpicklingError
from typing import Any, Literal

from babelquake.errors import ResumableError, UserError, setting
from babelquake.paths import install_line
from babelquake.resource import SETTINGS, is_full


def installed(package: str, what: str = "this model", extra: str = "neural") -> str:
    """The version of a package without which something does not run, or how to install it."""
    try:
        return version(package)
    except PackageNotFoundError:
        raise UserError(f"{what} needs {package}: run {install_line(extra)}.") from None


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


Device = Literal["auto", "cpu", "cuda"]


def configure(device: str | None = None, offline: bool | None = None) -> None:
    """Change how models run from here on; what is None stays."""
    if device is not None:
        SETTINGS.device = _known(device)
    if offline is not None:
        SETTINGS.offline = offline


def offline() -> bool:
    """Whether no hub may be asked: by `--offline`, or by the variables that transformers knows."""
    switches = (os.environ.get(name, "") for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"))
    return SETTINGS.offline or any(value.strip().lower() in ("1", "true", "yes", "on") for value in switches)


def device_of(given: str) -> str:
    """The device for a model: its own, the session's, or the first GPU there is."""
    import torch

    chosen = SETTINGS.device if given == "auto" else _known(given)
    if chosen == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if chosen.startswith("cuda") and not torch.cuda.is_available():
        raise UserError(
            f"device {chosen} was asked for, but torch sees no GPU on this machine. Use {setting('device', 'cpu')}."
        )
    return chosen


def _known(device: str) -> str:
    """A device's name, or an error that says what names there are."""
    if re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", device) is None:
        raise UserError(f"no device is called '{device}': expected auto, cpu, cuda or cuda:1.")
    return device


ACTIVATIONS = {"GELUActivation": "none", "NewGELUActivation": "tanh", "FastGELUActivation": "tanh", "GELUTanh": "tanh"}
"""Classes of activations that a product can apply to its result, and which of its ways that is."""
FOLLOWED = (("dense", "intermediate_act_fn"), ("lin1", "activation"), ("c_fc", "act"))
"""Where layers keep a product and the activation after it: BERT and its kin, DistilBERT, GPT-2."""


def prepared(model: Any) -> Any:
    """The model with its linear layers laid out, changed in place; as it was where this torch has no such products."""
    import torch
    from transformers.pytorch_utils import Conv1D

    backend: Any = torch.backends.mkldnn
    if not (backend.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")):
        return model
    for module in list(model.modules()):
        for product, activation in FOLLOWED:
            kind = ACTIVATIONS.get(type(getattr(module, activation, None)).__name__)
            if kind is not None and isinstance(getattr(module, product, None), (torch.nn.Linear, Conv1D)):
                setattr(module, product, _laid_out(getattr(module, product), kind))
                setattr(module, activation, torch.nn.Identity())
        for name, child in list(module.named_children()):
            if type(child) in (torch.nn.Linear, Conv1D):
                setattr(module, name, _laid_out(child))
    return model


def in_one_pass(model: Any) -> Any:
    """The model with GELU's tanh form, which some networks compute step by step, as the one function that it is."""
    import torch

    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if ACTIVATIONS.get(type(child).__name__) == "tanh":
                setattr(module, name, torch.nn.GELU("tanh"))
    return model


def _laid_out(linear: Any, gelu: str | None = None) -> Any:
    """A linear layer with its weights laid out, followed by that kind of GELU."""
    import torch

    class LaidOut(torch.nn.Module):
        """A product whose weights nobody else reads."""

        def __init__(self) -> None:
            super().__init__()
            weight = linear.weight.detach()
            rows = weight if isinstance(linear, torch.nn.Linear) else weight.T.contiguous()
            self.weight = torch.ops.mkldnn._reorder_linear_weight(rows, None)
            self.bias = None if linear.bias is None else linear.bias.detach()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            """The product, and the activation where there is one."""
            how, way = ("none", "") if gelu is None else ("gelu", gelu)
            found: torch.Tensor = torch.ops.mkldnn._linear_pointwise(x, self.weight, self.bias, how, [], way)
            return found

    return LaidOut()
