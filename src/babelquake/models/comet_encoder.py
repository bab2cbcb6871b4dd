"""COMET's sentence vectors as an encoder: the engine encodes each source, reference and translation once."""

from collections.abc import Sequence
from functools import cached_property

from babelquake.callee import Limits
from babelquake.models.base import Matrix, SentenceEncoder
from babelquake.models.comet import FILES, Network, settings
from babelquake.models.precision import Precision
from babelquake.models.settings import device_of
from babelquake.models.weights import library_versions, published
from babelquake.remarks import remark
from babelquake.runs.signature import signature


class CometEncoder(SentenceEncoder):
    """The encoder of a COMET checkpoint, its layers mixed and its tokens pooled as trained."""

    def __init__(
        self,
        model: str,
        encoder: str | None = None,
        precision: Precision = "float32",
        device: str = "auto",
    ) -> None:
        self.checkpoint = published(model, FILES, "comet", "Unbabel")
        self.settings = settings(self.checkpoint.folder)
        self.precision = precision
        self._below = encoder
        self._device = device

    @cached_property
    def signature(self) -> str:
        """The checkpoint with its content, the precision and the libraries."""
        return signature(
            self.checkpoint.name,
            content=self.checkpoint.content,
            precision=self.precision,
            libraries=library_versions("comet"),
        )

    @property
    def limits(self) -> Limits:
        """Enough texts to find some of equal length."""
        return Limits(texts=512)

    @cached_property
    def network(self) -> Network:
        """The weights, loaded when first needed."""
        library_versions("comet")
        return Network(self.checkpoint.folder, self._below, self.precision, device_of(self._device))

    def sentences(self, texts: Sequence[str]) -> Matrix:
        """One row per text."""
        before = self.network.truncated
        found = self.network.sentence_vectors(texts)
        remark(f"texts of which {self.checkpoint.name} read the beginning only", self.network.truncated - before)
        return found

    def close(self) -> None:
        """Give the weights' memory back."""
        self.__dict__.pop("network", None)
