"""TransQuest (Ranasinghe et al. 2020), the quality estimation of Kanojia 2021 §4: Mono, Multi and Siamese.

MonoTransQuest reads source and translation together; MultiTQ is the same network trained on all language pairs
(`TransQuest/monotransquest-da-multilingual`); SiameseTransQuest compares sentence vectors, which the engine shares.
"""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from babelquake.models import encoder as encoder_named
from babelquake.models.base import Vectors, sentence_rows
from babelquake.models.loading import Precision
from babelquake.models.transquest import FILES, MonoTransQuest, architecture
from babelquake.scorers.base import Array, PublishedScorer, Questions, VectorScorer, Wanted, required
from babelquake.spec import Spec


class TransQuest(PublishedScorer[MonoTransQuest], VectorScorer):
    """Predicted human judgement of a translation given its source; higher is better."""

    metric: ClassVar[str] = "transquest"
    owner: ClassVar[str] = "TransQuest"
    files: ClassVar[tuple[str, ...]] = FILES
    needs: ClassVar[frozenset[str]] = frozenset({"source"})

    def __init__(
        self,
        model: str = "TransQuest/monotransquest-da-multilingual",
        precision: Precision = "float32",
        device: str = "auto",
    ) -> None:
        super().__init__(model, precision, device)
        self.architecture = architecture(self.checkpoint.folder)
        self._siamese = None
        if self.architecture == "siamese":
            options = {"model": model, "precision": precision, "device": device}
            self._siamese = encoder_named(Spec("siamese-transquest").with_options(**options))

    @property
    def special(self) -> Mapping[str, object]:
        return {"architecture": self.architecture}

    def load(self, device: str) -> MonoTransQuest:
        return MonoTransQuest(self.checkpoint.folder, self.precision, device)

    def encoders(self) -> tuple[Wanted, ...]:
        return () if self._siamese is None else (Wanted(self._siamese),)

    def compare(self, questions: Questions, vectors: tuple[Vectors, ...]) -> Array:
        """The output for each pair, or the cosine of its sentence vectors."""
        sources = required(questions.sources, self, "source")
        if not vectors:
            with self.noting() as network:
                return network.judge(sources, questions.translations)
        s, t = (sentence_rows(texts, vectors[0]).astype(np.float64) for texts in (sources, questions.translations))
        return np.asarray((s * t).sum(axis=1) / (np.linalg.norm(s, axis=1) * np.linalg.norm(t, axis=1)))

    def close(self) -> None:
        super().close()
        if self._siamese is not None:
            self._siamese.close()
