"""SiameseTransQuest's sentence vectors as an encoder: each source and translation is encoded once."""

from collections.abc import Sequence
from functools import cached_property

from babelquake.callee import Limits
from babelquake.models.base import Matrix, SentenceEncoder
from babelquake.models.precision import Precision
from babelquake.models.settings import device_of
from babelquake.models.transquest import FILES, SiameseTransQuest
from babelquake.models.weights import library_versions, published
from babelquake.remarks import remark
from babelquake.runs.signature import signature


class SiameseEncoder(SentenceEncoder):
    """The mean of an XLM-R's token vectors, trained so that cosines follow human judgements."""

    def __init__(self, model: str, precision: Precision = "float32", device: str = "auto") -> None:
        self.checkpoint = published(model, FILES, "transquest", "TransQuest")
        self.precision = precision
        self._device = device

    @cached_property
    def signature(self) -> str:
        """The checkpoint with its content, the precision and the libraries."""
        return signature(
            self.checkpoint.name,
            content=self.checkpoint.content,
            precision=self.precision,
            libraries=library_versions("transquest"),
        )

    @property
    def limits(self) -> Limits:
        """Enough texts to find some of equal length."""
        return Limits(texts=512)

    @cached_property
    def network(self) -> SiameseTransQuest:
        """The weights, loaded when first needed."""
        library_versions("transquest")
        return SiameseTransQuest(self.checkpoint.folder, self.precision, device_of(self._device))

    def sentences(self, texts: Sequence[str]) -> Matrix:
        """One row per text."""
        before = self.network.truncated
        found = self.network.sentence_vectors(texts)
        remark(f"texts of which {self.checkpoint.name} read the beginning only", self.network.truncated - before)
        return found

    def close(self) -> None:
        """Give the weights' memory back."""
        self.__dict__.pop("network", None)
