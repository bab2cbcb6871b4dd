"""What every model below the scorers is: an encoder, a masked or a causal language model, all of them resources.

Layers are counted as in the papers: 0 is the embeddings, 1 the first block, `depth` the last.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from babelquake.resource import Filler, Gap, Kind, Limits, Recipe
from babelquake.spec import Spec

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Encoding:
    """One text as an encoder sees it: per layer one row of numbers for each token."""

    layers: Mapping[int, Matrix]
    ids: NDArray[np.int32]
    """The tokens' numbers in the vocabulary."""
    special: NDArray[np.bool_]
    """Which tokens the tokenizer added: beginning, end, separators."""

    @property
    def nbytes(self) -> int:
        """The bytes that its numbers take, wherever they are."""
        layers: Iterable[Any] = getattr(self.layers, "tensors", self.layers).values()
        return int(sum(layer.nbytes for layer in layers)) + self.ids.nbytes


Vectors = Mapping[str, Encoding]
"""Encodings by text."""


class Span(NamedTuple):
    """A part of a translation that is held to be wrong; `start` and `end` count characters."""

    text: str
    severity: str
    """minor, major or critical, as in MQM."""
    start: int
    end: int
    confidence: float


PENALTIES = {"minor": 1, "major": 5, "critical": 10}
"""What errors cost in MQM, by severity."""
WORST = 25
"""The penalty beyond which nothing gets worse."""


class Model(ABC):
    """Something with weights that are loaded when they are first needed."""

    kind: ClassVar[Kind]
    spec: Spec
    """How the model was asked for; set by the function that makes models by name."""

    @property
    def name(self) -> str:
        """The name with options."""
        return str(self.spec)

    @property
    @abstractmethod
    def signature(self) -> str:
        """Name, content of the files, options and precision; known without loading weights."""

    @property
    def languages(self) -> frozenset[str] | None:
        """The languages it was trained on, None where that is not known."""
        return None

    @property
    def limits(self) -> Limits:
        """Texts in one call; the model cuts them further by their tokens."""
        return Limits(texts=256)

    @property
    def recipe(self) -> Recipe:
        """How a worker builds this model again."""
        return Recipe(self.kind, self.spec)

    def close(self) -> None:  # noqa: B027 – some models hold nothing
        """Give the weights' memory back."""


class Encoder(Model):
    """Turns texts into vectors, each on its own: neighbours in the batch change nothing."""

    kind = "encoder"

    @property
    @abstractmethod
    def depth(self) -> int:
        """The number of the last layer."""

    @abstractmethod
    def encode(self, texts: Sequence[str], layers: Sequence[int]) -> list[Encoding]:
        """One encoding per text, with the layers asked for."""


class SentenceEncoder(Encoder):
    """An encoder with one vector per text: its only layer, with one row."""

    @property
    def depth(self) -> int:
        """The sentence vector is layer 0."""
        return 0

    @abstractmethod
    def sentences(self, texts: Sequence[str]) -> Matrix:
        """One row per text."""

    def encode(self, texts: Sequence[str], layers: Sequence[int] = (0,)) -> list[Encoding]:
        if not texts:
            return []
        rows = self.sentences(texts)
        return [Encoding({0: row[None]}, np.zeros(1, np.int32), np.zeros(1, np.bool_)) for row in rows]


class MaskedLM(Model):
    """Fills gaps."""

    kind = "masked-lm"

    @abstractmethod
    def fill(self, gaps: Sequence[Gap], top: int) -> list[list[Filler]]:
        """For each gap the whole words among the `top` likeliest pieces, likeliest first."""


class CausalLM(Model):
    """Gives every token its probability after those before it."""

    kind = "causal-lm"

    @abstractmethod
    def log_probabilities(self, texts: Sequence[str]) -> list[Matrix]:
        """For each text the natural logarithms of its tokens' probabilities, the first after the begin token."""


def cosines(ones: Matrix, others: Matrix) -> NDArray[np.float64]:
    """The cosine of each row with the row beside it; 0 where a vector has no length."""
    left, right = ones.astype(np.float64), others.astype(np.float64)
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    products = np.einsum("ij,ij->i", left, right)
    return np.asarray(np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0))


def sentence_rows(texts: Sequence[str], vectors: Vectors) -> Matrix:
    """The sentence vectors of texts, row by row."""
    if not texts:
        return np.zeros((0, 0), dtype=np.float32)
    return np.stack([vectors[text].layers[0][0] for text in texts])
