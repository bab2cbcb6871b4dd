"""Matrix products and activations in as few passes as a device allows.

On a CPU torch lays a weight matrix out anew in every product. Where its own compiler's operators are available, the
linear layers of a model are replaced by ones that keep their weights ready, as oneDNN wants them, and compute the
activation in the same pass: the same sums in four fifths of the time. What a row of the product is does not depend on
how many rows there are. On a GPU an activation that transformers spells out in eight passes is one.
"""

from typing import Any

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
