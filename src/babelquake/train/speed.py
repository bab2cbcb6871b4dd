"""Time and speed of a training run, as its log shows them."""

import time

import torch
from torch import Tensor

LOG_SECONDS = 20


class Clock:
    """Seconds of training, those of earlier sessions included."""

    def __init__(self, before: float) -> None:
        self.start = time.monotonic() - before

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return time.monotonic() - self.start


class Meter:
    """Mean loss and speed since the last line of the log; asks the GPU only when a line is due."""

    def __init__(self, name: str, clock: Clock) -> None:
        self.name, self.clock = name, clock
        self.losses: list[Tensor] = []
        self.counts: list[Tensor] = []
        self.tokens, self.latest, self.steps, self.mean, self.since = 0, 0, 0, float("nan"), clock.seconds

    def add(self, loss: Tensor, count: Tensor, tokens: int) -> None:
        """Note one step."""
        self.losses.append(loss)
        self.counts.append(count)
        self.latest = tokens
        self.tokens += tokens
        self.steps += 1

    def log(self, step: int, rate: float) -> None:
        """Print a line if the last one is long enough ago."""
        if (passed := self.clock.seconds - self.since) < LOG_SECONDS and step != 1:
            return
        self.mean = round(float(torch.stack(self.losses).sum() / torch.stack(self.counts).sum()), 4)
        print(
            f"[{self.name}] step {step}  loss {self.mean:.3f}  lr {rate:.2e}  {self.steps / passed:.1f} steps/s  "
            f"{self.tokens / passed / 1000:.0f}k tokens/s  {self.clock.seconds:.0f} s",
            flush=True,
        )
        self.losses.clear()
        self.counts.clear()
        self.tokens, self.steps, self.since = 0, 0, self.clock.seconds
