"""TransQuest (Ranasinghe et al. 2020), the quality estimation of Kanojia 2021 §4: Mono, Multi and Siamese.

MonoTransQuest reads source and translation together; MultiTQ is the same network trained on all language pairs
(`TransQuest/monotransquest-da-multilingual`); SiameseTransQuest compares sentence vectors, which the engine shares.
"""

from functools import cached_property
from typing import ClassVar

import numpy as np

from babelquake.callee import Limits
from babelquake.models import encoder as encoder_named
from babelquake.models.base import Vectors, sentence_rows
from babelquake.models.precision import Precision
from babelquake.models.settings import device_of
from babelquake.models.transquest import FILES, MonoTransQuest, architecture
from babelquake.models.weights import library_versions, published
from babelquake.runs.signature import signature
from babelquake.scorers.base import Array, Questions, VectorScorer, Wanted, required
from babelquake.scorers.published import note_cut, shown
from babelquake.spec import Spec


class TransQuest(VectorScorer):
    """Predicted human judgement of a translation given its source; higher is better."""

    extra: ClassVar[str | None] = "neural"
    needs: ClassVar[frozenset[str]] = frozenset({"source"})

    def __init__(
        self,
        model: str = "TransQuest/monotransquest-da-multilingual",
        precision: Precision = "float32",
        device: str = "auto",
    ) -> None:
        self.checkpoint = published(model, FILES, "transquest", "TransQuest")
        self.architecture = architecture(self.checkpoint.folder)
        self.precision = precision
        self._device = device
        self._siamese = None
        if self.architecture == "siamese":
            options = {"model": model, "precision": precision, "device": device}
            self._siamese = encoder_named(Spec("siamese-transquest").with_options(**options))

    @property
    def described(self) -> str:
        """The name with the model's own name, not the path to it."""
        return shown(self.spec, self.checkpoint)

    @cached_property
    def signature(self) -> str:
        """Checkpoint with content, architecture, precision and libraries."""
        return signature(
            "transquest",
            self.checkpoint.name,
            content=self.checkpoint.content,
            architecture=self.architecture,
            precision=self.precision,
            libraries=library_versions("transquest"),
        )

    @property
    def limits(self) -> Limits:
        """Enough pairs at once to find some of equal length."""
        return Limits(texts=512)

    @cached_property
    def network(self) -> MonoTransQuest:
        """The weights that read pairs, loaded when first needed."""
        library_versions("transquest")
        return MonoTransQuest(self.checkpoint.folder, self.precision, device_of(self._device))

    def encoders(self) -> tuple[Wanted, ...]:
        """The encoder of a Siamese checkpoint."""
        return () if self._siamese is None else (Wanted(self._siamese),)

    def compare(self, questions: Questions, vectors: tuple[Vectors, ...]) -> Array:
        """The output for each pair, or the cosine of its sentence vectors."""
        sources = required(questions.sources, self, "source")
        if not vectors:
            before = self.network.truncated
            scores = self.network.judge(sources, questions.translations)
            note_cut(self.name, self.network.truncated - before)
            return scores
        if not len(questions):
            return np.zeros(0)
        s, t = (sentence_rows(texts, vectors[0]).astype(np.float64) for texts in (sources, questions.translations))
        return np.asarray((s * t).sum(axis=1) / (np.linalg.norm(s, axis=1) * np.linalg.norm(t, axis=1)))

    def close(self) -> None:
        """Give the weights' memory back."""
        super().close()
        self.__dict__.pop("network", None)
