"""A kind of failure as a scorer: whether each translation has it, or how much of it there is.

So that `correlate` can ask whether it agrees with people, and `attack` can look for changes that provoke it.
"""

from typing import ClassVar

import numpy as np

from babelquake.errors import UserError
from babelquake.failures import DETECTORS, Card, Pair, cards_for, failures_in
from babelquake.languages import LanguagePair
from babelquake.scorers.base import Array, MeanScorer, Questions, required
from babelquake.signature import signature

ANY = "any"


class FailureScorer(MeanScorer):
    """100 for a translation with a failure, 0 for one without; with `score=true`, how much of it there is."""

    needs: ClassVar[frozenset[str]] = frozenset({"source"})
    higher_is_better: ClassVar[bool] = False
    perfect: ClassVar[float | None] = 0.0

    def __init__(self, kind: str = ANY, languages: str = "", score: bool = False) -> None:
        self.kind, self.score = kind, score
        self.pair = LanguagePair(languages) if languages else None
        self.cards = self._cards()

    def _cards(self) -> list[Card]:
        kinds = None if self.kind == ANY else [self.kind]
        source, target = (self.pair.source, self.pair.target) if self.pair else (None, None)
        found = cards_for(source, target, kinds)
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
        """The kinds looked for and the languages."""
        kinds = "+".join(card.kind for card in self.cards)
        return signature("failure", kinds, languages=self.pair, score="yes" if self.score else None)

    def judge(self, questions: Questions) -> Array:
        """One number per translation, from 0 to 100."""
        sources = required(questions.sources, self, "source")
        return np.array(
            [self._judged(source, text) for source, text in zip(sources, questions.translations, strict=True)],
            dtype=np.float64,
        )

    def _judged(self, source: str, text: str) -> float:
        ours, theirs = (self.pair.source, self.pair.target) if self.pair else (None, None)
        pair = Pair(source, text, ours, theirs)
        if self.score and self.kind != ANY and (measure := self.cards[0].score) is not None:
            return 100 * measure(pair)
        found = failures_in(pair, self.cards)
        if not found:
            return 0.0
        return 100 * max(failure.score for failure in found) if self.score else 100.0
