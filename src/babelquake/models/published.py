"""Sentence encoders inside published checkpoints of metrics: COMET's and SiameseTransQuest's."""

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar, Generic, Protocol, TypeVar

from babelquake.callee import Limits
from babelquake.models.base import Matrix, SentenceEncoder
from babelquake.models.checkpoint import Checkpoint
from babelquake.models.precision import Precision
from babelquake.models.settings import device_of
from babelquake.models.weights import library_versions, published
from babelquake.remarks import remark
from babelquake.runs.signature import signature


class Network(Protocol):
    """What a checkpoint holds."""

    truncated: int

    def sentence_vectors(self, texts: Sequence[str]) -> Matrix:
        """One row per text."""


N = TypeVar("N", bound=Network)


class PublishedEncoder(SentenceEncoder, Generic[N]):
    """The encoder of a checkpoint; what it is made of, its kind says."""

    metric: ClassVar[str]
    """The scorer that it belongs to."""
    owner: ClassVar[str]
    """Who publishes such checkpoints on the hub."""
    files: ClassVar[tuple[str, ...]]

    def __init__(self, model: str, precision: Precision = "float32", device: str = "auto") -> None:
        self.checkpoint: Checkpoint = published(model, self.files, self.metric, self.owner)
        self.precision = precision
        self._device = device

    @abstractmethod
    def load(self, device: str) -> N:
        """The network with its weights."""

    @cached_property
    def signature(self) -> str:
        """The checkpoint with its content, the precision and the libraries."""
        return signature(
            self.checkpoint.name,
            content=self.checkpoint.content,
            precision=self.precision,
            libraries=library_versions(self.metric),
        )

    @property
    def limits(self) -> Limits:
        """Enough texts to find some of equal length."""
        return Limits(texts=512)

    @cached_property
    def network(self) -> N:
        """The weights, loaded when first needed."""
        library_versions(self.metric)
        return self.load(device_of(self._device))

    def sentences(self, texts: Sequence[str]) -> Matrix:
        """One row per text."""
        before = self.network.truncated
        found = self.network.sentence_vectors(texts)
        remark(f"texts of which {self.checkpoint.name} read the beginning only", self.network.truncated - before)
        return found

    def close(self) -> None:
        """Give the weights' memory back."""
        self.__dict__.pop("network", None)
