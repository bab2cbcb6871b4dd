"""Quality estimation by the small multilingual model that ships, `qe-multi`: no torch, no network, no reference.

The transformer's rating of source and translation, plus the cosine of their sentence vectors (`vectors-multi`) with the
weight that its card states: two views that err differently. Both hold a copy of the source for the best translation
there is, which no rater does, so words that were only copied cost.
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import ClassVar

import numpy as np

from babelquake.languages import LanguagePair
from babelquake.models import sentence_encoder
from babelquake.models.base import Vectors, sentence_rows
from babelquake.models.hashed_quality import HashedQuality
from babelquake.resource import Limits
from babelquake.scorers.base import Array, Questions, VectorScorer, Wanted, required
from babelquake.spec import signature


class MultilingualQE(VectorScorer):
    """Predicted human judgement of a translation given its source, in standard deviations; higher is better.

    `model` is the model that ships or a folder made by `babelquake train qe --config`. It was trained on
    Estonian, Nepali, Romanian, Russian and Sinhala into English, and English into German and Chinese.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"source"})

    limits = Limits(texts=256)
    """Questions whose words are hashed together."""

    def __init__(self, model: str = "qe-multi") -> None:
        self._quality = HashedQuality(model)
        card = self._quality.files.card
        self.encoder = sentence_encoder(str(card.get("vectors", "vectors-multi")))
        self.weight = float(card.get("cosine_weight", 0.0))
        self.copy_cost = float(card.get("copy_cost", 0.0))

    @property
    def signature(self) -> str:
        return signature(
            "qe-multi",
            weights=self._quality.files.content,
            encoder=self.encoder.signature,
            cosine=f"{self.weight:g}",
            copies=f"{self.copy_cost:g}",
        )

    def language_notes(self, language_pairs: Iterable[str | None]) -> list[str]:
        """Languages that it does not know, and pairs of which it saw no ratings."""
        given = [LanguagePair(pair) for pair in language_pairs if pair is not None]
        rated = {LanguagePair(pair).codes for pair in self._quality.files.card.get("language_pairs", ())}
        unknown = set(self.unknown_languages(map(str, given)))
        unrated = sorted({str(pair) for pair in given if pair.codes not in rated and unknown.isdisjoint(pair.codes)})
        said = super().language_notes(map(str, given))
        if rated and unrated:
            said.append(
                f"{self.name} has seen no ratings of {', '.join(unrated)}: how well it judges them is not known."
            )
        return said

    def encoders(self) -> tuple[Wanted, ...]:
        return (Wanted(self.encoder),)

    def compare(self, questions: Questions, vectors: tuple[Vectors, ...]) -> Array:
        sources = list(required(questions.sources, self, "source"))
        if not sources:
            return np.zeros(0)
        one, other = (sentence_rows(side, vectors[0]) for side in (sources, questions.translations))
        cosines = np.einsum("ij,ij->i", one.astype(np.float64), other.astype(np.float64))
        untranslated = np.array(list(map(copied, sources, questions.translations)))
        rated = self._quality.rate(sources, questions.translations)
        return np.asarray(rated + self.weight * cosines - self.copy_cost * untranslated)

    def close(self) -> None:
        self._quality.close()
        self.encoder.close()


WORD = re.compile(r"[^\W\d_]+")
FEWEST_WORDS = 3
USUAL = 0.7
"""The share of copied words up to which translations are as good as others: names, titles, code, addresses."""


def copied(source: str, translation: str) -> float:
    """How far a translation is the source again: 0 for usual translations, 1 where it has no word of its own.

    Words with a capital are left out, since names stay as they are.
    """
    words, there = (Counter(w for w in WORD.findall(text) if not w[0].isupper()) for text in (translation, source))
    if (count := words.total()) < FEWEST_WORDS:
        return 0.0
    return max(0.0, (words & there).total() / count - USUAL) / (1 - USUAL)
