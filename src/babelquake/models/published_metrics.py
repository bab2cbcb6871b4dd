"""Published checkpoints of metrics: which they are, in what precision and where they run, and their networks.

Scorers that are such a checkpoint (BLEURT, TransQuest, MetricX) and the sentence encoders inside them (COMET's,
SiameseTransQuest's) are all made from the same options.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import ClassVar, Generic, Protocol, TypeVar

from babelquake.models.base import Matrix, SentenceEncoder
from babelquake.models.checkpoint import Checkpoint, library_versions, published
from babelquake.models.loading import Precision, enough_memory
from babelquake.models.settings import device_of
from babelquake.resource import Limits
from babelquake.spec import signature
from babelquake.warnings_log import remark


class Network(Protocol):
    """What a checkpoint holds."""

    cut: list[str]
    """Texts that were longer than it reads."""


class SentenceNetwork(Network, Protocol):
    """A network with one vector per text."""

    def sentence_vectors(self, texts: Sequence[str]) -> Matrix:
        """One row per text."""


N = TypeVar("N", bound=Network)
S = TypeVar("S", bound=SentenceNetwork)


class Published(Generic[N]):
    """A checkpoint; what it is made of, its kind says."""

    metric: ClassVar[str]
    """The scorer that it belongs to."""
    owner: ClassVar[str]
    """Who publishes such checkpoints on the hub."""
    files: ClassVar[tuple[str, ...]]

    limits = Limits(texts=512)
    """Enough texts at once to find some that can be read together."""

    def __init__(self, model: str, precision: Precision = "float32", device: str = "auto") -> None:
        self.checkpoint: Checkpoint = published(model, self.files, self.metric, self.owner)
        self.precision: Precision = precision
        self._device = device

    @abstractmethod
    def load(self, device: str) -> N:
        """The network with its weights."""

    @cached_property
    def network(self) -> N:
        """The weights, loaded when first needed."""
        library_versions(self.metric)
        with enough_memory(self.checkpoint.name):
            return self.load(device_of(self._device))

    @contextmanager
    def noting(self) -> Iterator[N]:
        """The network at work; says how many texts it cut."""
        self.network.cut.clear()
        yield self.network
        said = f"texts cut to the length that {self.checkpoint.name} can read"
        remark(said, dict.fromkeys(self.network.cut))

    def signed(self, *names: str, **options: object) -> str:
        """The signature: checkpoint with content, what is special to its kind, precision and libraries."""
        return signature(
            *names,
            self.checkpoint.name,
            content=self.checkpoint.content,
            **options,
            precision=self.precision,
            libraries=library_versions(self.metric),
        )

    def close(self) -> None:
        """Give the weights' memory back."""
        self.__dict__.pop("network", None)


class PublishedEncoder(Published[S], SentenceEncoder, Generic[S]):
    """The encoder of a checkpoint."""

    @cached_property
    def signature(self) -> str:
        return self.signed()

    def sentences(self, texts: Sequence[str]) -> Matrix:
        with self.noting() as network:
            return network.sentence_vectors(texts)
