"""Quality estimation by the small multilingual model that ships, `qe-multi`: no torch, no network, no reference.

The transformer's rating of source and translation, plus the cosine of their sentence vectors (`vectors-multi`) with the
weight that its card states: two views that err differently.
"""

from typing import ClassVar

import numpy as np

from babelquake.models import sentence_encoder
from babelquake.models.base import Vectors, sentence_rows
from babelquake.models.hashed_quality import HashedQuality
from babelquake.resource import Limits
from babelquake.scorers.base import Array, Questions, VectorScorer, Wanted, required
from babelquake.signature import signature


class MultilingualQE(VectorScorer):
    """Predicted human judgement of a translation given its source, in standard deviations; higher is better.

    `model` is the model that ships or a folder made by `python -m babelquake.train.quality`. It was trained on
    Estonian, Nepali, Romanian, Russian and Sinhala into English, and English into German and Chinese.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"source"})

    def __init__(self, model: str = "qe-multi") -> None:
        self._quality = HashedQuality(model)
        card = self._quality.files.card
        self.encoder = sentence_encoder(str(card.get("vectors", "vectors-multi")))
        self.weight = float(card.get("cosine_weight", 0.0))

    @property
    def signature(self) -> str:
        """The weights of both models."""
        return signature("qe-multi", weights=self._quality.files.content, encoder=self.encoder.signature)

    @property
    def limits(self) -> Limits:
        """Questions whose words are hashed together."""
        return Limits(texts=256)

    def encoders(self) -> tuple[Wanted, ...]:
        """One vector per text."""
        return (Wanted(self.encoder),)

    def compare(self, questions: Questions, vectors: tuple[Vectors, ...]) -> Array:
        """The rating of each pair."""
        sources = list(required(questions.sources, self, "source"))
        if not sources:
            return np.zeros(0)
        one, other = (sentence_rows(side, vectors[0]) for side in (sources, questions.translations))
        cosines = np.einsum("ij,ij->i", one.astype(np.float64), other.astype(np.float64))
        return np.asarray(self._quality.rate(sources, questions.translations) + self.weight * cosines)

    def close(self) -> None:
        """Forget the weights."""
        self._quality.close()
        self.encoder.close()
