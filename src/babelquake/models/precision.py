"""Numbers of a network: float32 as trained, half precision, or eight-bit weights."""

from typing import Any, Literal

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
