"""Networks that read two texts together and give one number: BLEURT, MonoTransQuest.

Texts are tokenised once each, pairs are joined, and judged in batches of equal length.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from babelquake.models.batching import batches

if TYPE_CHECKING:
    from torch import Tensor


class Joined(NamedTuple):
    """Two texts as one sequence of tokens."""

    ids: list[int]
    second: int
    """Where the second text begins."""
    cut: bool
    """Whether the pair was too long and was cut."""


class PairRegression(ABC):
    """Reads pairs of texts; how they are tokenised and joined is the model's own."""

    device: str
    truncated: int = 0
    """Pairs that were longer than the model reads, since it was loaded."""

    @abstractmethod
    def tokens(self, text: str) -> list[int]:
        """The text's tokens, without marks around them."""

    @abstractmethod
    def join(self, first: str, second: str, tokens: tuple[list[int], list[int]]) -> Joined:
        """The pair as one sequence, cut to the model's length."""

    @abstractmethod
    def forward(self, ids: "Tensor", mask: "Tensor", types: "Tensor") -> "Tensor":
        """One number per row; `types` is 1 from where the second text begins."""

    def judge(self, firsts: Sequence[str], seconds: Sequence[str]) -> NDArray[np.float64]:
        """One number per pair."""
        import torch

        known = {text: self.tokens(text) for text in dict.fromkeys([*firsts, *seconds])}
        joined = [self.join(a, b, (known[a], known[b])) for a, b in zip(firsts, seconds, strict=True)]
        self.truncated += sum(pair.cut for pair in joined)
        found = np.zeros(len(joined))
        with torch.inference_mode():
            for places, ids, mask in batches([pair.ids for pair in joined], self.device):
                types = torch.zeros_like(ids)
                for row, place in enumerate(places):
                    types[row, joined[place].second :] = 1
                found[places] = self.forward(ids, mask, types).double().cpu().numpy()[: len(places)]
        return found
