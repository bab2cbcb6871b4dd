"""Quality estimation by ridge regression on frozen sentence vectors: a model made by `babelquake train qe`."""

from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from babelquake.errors import UserError
from babelquake.models import encoder as encoder_named
from babelquake.models.base import Encoder, Vectors, sentence_rows
from babelquake.models.ridge import content_hash, features, load
from babelquake.scorers.base import Array, Questions, VectorScorer, Wanted, required
from babelquake.spec import signature


class RidgeQE(VectorScorer):
    """Predicted human judgement of a translation given its source; higher is better, 0 is average for z-scores."""

    needs: ClassVar[frozenset[str]] = frozenset({"source"})

    def __init__(self, model: str) -> None:
        self.model = Path(model)
        self._ridge, self.card = load(self.model)

    @property
    def described(self) -> str:
        return f"ridge-qe[model={self.model.resolve().name}]"

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder that the model was trained with; another one would mislead it."""
        made = encoder_named(str(self.card.get("encoder")))
        if made.signature != self.card.get("encoder_signature"):
            raise UserError(
                f"{self.model} was trained with the encoder {self.card.get('encoder_signature')}, "
                f"but {made.signature} is installed: install the former, or train again."
            )
        return made

    @property
    def signature(self) -> str:
        return signature("ridge-qe", weights=content_hash(self.model), encoder=str(self.card.get("encoder_signature")))

    def encoders(self) -> tuple[Wanted, ...]:
        return (Wanted(self.encoder),)

    def compare(self, questions: Questions, vectors: tuple[Vectors, ...]) -> Array:
        given = required(questions.sources, self, "source")
        if not len(questions):
            return np.zeros(0)
        sides = (sentence_rows(side, vectors[0]) for side in (given, questions.translations))
        return self._ridge.predict(features(*sides))
