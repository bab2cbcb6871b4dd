"""One training, from the first batch to the last: AdamW, a learning rate that warms up and falls to zero, a log.

Minutes long on a GPU, so there are no checkpoints: what is interrupted begins again.
"""

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from babelquake.train.recipes import Recipe
from babelquake.train.speed import Clock

Batch = TypeVar("Batch")
LOG_SECONDS = 20


@dataclass
class History:
    """What a training did."""

    steps: int = 0
    seconds: float = 0.0
    tokens: int = 0
    losses: list[dict[str, float]] = field(default_factory=list)


def device_named(device: str | None) -> torch.device:
    """The device asked for, or the GPU where there is one."""
    return torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))


def autocast(device: torch.device) -> Any:
    """bf16 on a GPU, full precision on a CPU."""
    return torch.autocast("cuda", torch.bfloat16) if device.type == "cuda" else nullcontext()


def optimise(
    model: nn.Module, batches: Iterable[Batch], loss: Callable[[Batch], tuple[Tensor, int]], recipe: Recipe
) -> History:
    """Train `model` to the recipe's bound; `loss` gives the mean loss of a batch and the tokens in it."""
    device = next(model.parameters()).device
    torch.set_float32_matmul_precision("high")
    decayed = [weight for weight in model.parameters() if weight.requires_grad and weight.ndim > 1]
    plain = [weight for weight in model.parameters() if weight.requires_grad and weight.ndim <= 1]
    optimiser = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": recipe.weight_decay}, {"params": plain, "weight_decay": 0.0}],
        lr=recipe.learning_rate,
        betas=(0.9, 0.98),
        fused=device.type == "cuda",
    )
    if recipe.compile:
        for layer in layers(model):
            layer.compile(dynamic=True)
    model.train()
    history, clock = History(), Clock(0.0)
    since, seen = 0.0, torch.zeros((), device=device)
    logged = 0
    for batch in batches:
        done = clock.seconds / (60 * recipe.minutes) if recipe.minutes else history.steps / (recipe.steps or 1)
        if done >= 1:
            break
        rate = recipe.learning_rate * min(1.0, (history.steps + 1) / recipe.warmup) * (1 - done)
        for group in optimiser.param_groups:
            group["lr"] = rate
        with autocast(device):
            value, tokens = loss(batch)
        optimiser.zero_grad(set_to_none=True)
        value.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)
        optimiser.step()
        history.steps += 1
        history.tokens += tokens
        seen += value.detach()
        if clock.seconds - since > LOG_SECONDS:
            mean = round(float(seen) / (history.steps - logged), 4)
            history.losses.append({"step": history.steps, "seconds": round(clock.seconds, 1), "loss": mean})
            speed = history.tokens / clock.seconds / 1000
            print(f"[{recipe.name}] step {history.steps}  loss {mean:.3f}  {speed:.0f}k tokens/s", flush=True)
            since, logged, seen = clock.seconds, history.steps, torch.zeros((), device=device)
    history.seconds = round(clock.seconds, 1)
    for layer in layers(model) if recipe.compile else ():
        layer._compiled_call_impl = None
    model.eval()
    return history


def layers(model: nn.Module) -> list[nn.Module]:
    """The Transformer layers of a model, which share one compiled code."""
    lists: list[Any] = [part for part in model.modules() if isinstance(part, nn.ModuleList)]
    largest: Any = max(lists, key=lambda part: sum(weight.numel() for weight in part.parameters()))
    return list(largest)
