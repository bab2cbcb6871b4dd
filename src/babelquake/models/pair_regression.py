"""Networks that read two texts together and give one number: BLEURT, MonoTransQuest.

Texts are tokenised once each, pairs are joined, and read many at once.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from babelquake.models.batching import Sheet
from babelquake.models.linear_layers import prepared
from babelquake.models.loading import Precision, in_precision
from babelquake.models.sequence_reader import FIRST, Reader
from babelquake.resource import halving

if TYPE_CHECKING:
    from torch import Tensor


class Joined(NamedTuple):
    """Two texts as one sequence of tokens."""

    ids: list[int]
    second: int
    """Where the second text begins."""
    cut: bool
    """Whether the pair was too long and was cut."""


class PairRegression(Reader, ABC):
    """Reads pairs of texts; how they are tokenised and joined is the model's own."""

    cut: list[str]
    """Pairs that were longer than the model reads, whichever text came first."""
    typed: bool = True
    """Whether the network tells the texts of a pair apart by token types."""

    @abstractmethod
    def tokens_of(self, text: str) -> list[int]:
        """The text's tokens, without marks around them."""

    @abstractmethod
    def join(self, first: str, second: str, tokens: tuple[list[int], list[int]]) -> Joined:
        """The pair as one sequence, cut to the model's length."""

    @abstractmethod
    def outputs(self, sheet: Sheet) -> "Tensor":
        """One number for each pair, and perhaps more that mean nothing."""

    def ready(self, network: Any, precision: Precision, device: str) -> Any:
        """The network on its device, as it is run."""
        self.config, self.device, self.cut = network.config, device, []
        self.ribbons = self.ribbons and self.config.model_type in FIRST
        network = in_precision(network, precision).eval().to(device)
        return prepared(network) if self.ribbons and precision == "float32" and device == "cpu" else network

    def judge(self, firsts: Sequence[str], seconds: Sequence[str]) -> NDArray[np.float64]:
        """One number per pair."""
        known = {text: self.tokens_of(text) for text in dict.fromkeys([*firsts, *seconds])}
        joined = [self.join(a, b, (known[a], known[b])) for a, b in zip(firsts, seconds, strict=True)]
        pairs = zip(firsts, seconds, joined, strict=True)
        self.cut += ["\0".join(sorted((a, b))) for a, b, pair in pairs if pair.cut]
        found = np.zeros(len(joined))
        for places in self.batches([pair.ids for pair in joined]):
            found[places] = halving(self._read, [joined[place] for place in places])
        return found

    def _read(self, pairs: list[Joined]) -> list[float]:
        import torch

        types = [[0] * pair.second + [1] * (len(pair.ids) - pair.second) for pair in pairs] if self.typed else None
        with torch.inference_mode():
            outputs = self.outputs(self.sheet([pair.ids for pair in pairs], types))
        found: list[float] = outputs[: len(pairs)].double().tolist()
        return found
