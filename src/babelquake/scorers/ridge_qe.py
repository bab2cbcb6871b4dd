"""Quality estimation by ridge regression on frozen sentence vectors: a model made by `babelquake train qe`."""

from pathlib import Path
from typing import ClassVar

import numpy as np

from babelquake.errors import UserError
from babelquake.models.encoders import Memory, encoder
from babelquake.models.ridge import content_hash, features, load
from babelquake.runs.signature import signature
from babelquake.scorers.base import Array, Batch, MeanScorer


class RidgeQE(MeanScorer):
    """Predicted human judgement of a translation given its source; higher is better, 0 is average for z-scores."""

    needs: ClassVar[frozenset[str]] = frozenset({"source"})
    costly: ClassVar[bool] = True

    def __init__(self, model: str) -> None:
        self.model = Path(model)
        self._ridge, self.card = load(self.model)
        self._memory: Memory | None = None

    @property
    def name(self) -> str:
        """The name with the model's folder, not the path to it."""
        return f"ridge-qe[model={self.model.resolve().name}]"

    @property
    def _loaded(self) -> Memory:
        if self._memory is None:
            made = encoder(str(self.card.get("encoder")))
            if made.signature != self.card.get("encoder_signature"):
                raise UserError(
                    f"{self.model} was trained with the encoder {self.card.get('encoder_signature')}, "
                    f"but {made.signature} is installed: install the former, or train again."
                )
            self._memory = Memory(made)
        return self._memory

    @property
    def signature(self) -> str:
        """The weights, and the encoder below them."""
        return signature("ridge-qe", weights=content_hash(self.model), encoder=str(self.card.get("encoder_signature")))

    def judge(self, batch: Batch) -> Array:
        """What the regression predicts from the vectors of source and translation."""
        if batch.sources is None:
            raise UserError(f"scorer '{self.name}' needs the source of every segment.")
        if not len(batch):
            return np.zeros(0)
        return self._ridge.predict(features(*self._loaded.pairs(batch.sources, batch.translations)))
