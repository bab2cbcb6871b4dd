"""Unsupervised quality estimation: how near source and translation are in a cross-lingual vector space.

The plainest of the models that ask no references and no training data; the SentSim family (Song et al. 2021) and the
systems that Kanojia 2021 §4 ranks build on the same idea.
"""

from typing import ClassVar

import numpy as np

from babelquake.errors import UserError
from babelquake.models.encoders import Memory, encoder
from babelquake.runs.signature import signature
from babelquake.scorers.base import Array, Batch, MeanScorer


class EmbeddingSimilarity(MeanScorer):
    """Cosine of the sentence vectors of source and translation, from -1 to 1."""

    needs: ClassVar[frozenset[str]] = frozenset({"source"})
    costly: ClassVar[bool] = True

    def __init__(self, encoder: str = "usem3") -> None:
        self.encoder = encoder
        self._memory: Memory | None = None

    @property
    def _loaded(self) -> Memory:
        if self._memory is None:
            self._memory = Memory(encoder(self.encoder))
        return self._memory

    @property
    def signature(self) -> str:
        """The encoder with its version."""
        return signature("embedding-similarity", encoder=self._loaded.encoder.signature)

    def judge(self, batch: Batch) -> Array:
        """The cosine for each segment; 0 where a vector has no length."""
        if batch.sources is None:
            raise UserError(f"scorer '{self.name}' needs the source of every segment.")
        if not len(batch):
            return np.zeros(0)
        sources, translations = (
            vectors.astype(np.float64) for vectors in self._loaded.pairs(batch.sources, batch.translations)
        )
        lengths = np.linalg.norm(sources, axis=1) * np.linalg.norm(translations, axis=1)
        products = np.einsum("ij,ij->i", sources, translations)
        return np.asarray(np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0))
