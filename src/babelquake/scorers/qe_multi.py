"""Quality estimation by the small multilingual model that ships, `qe-multi`: no torch, no network, no reference.

The transformer's rating of source and translation, plus the cosine of their sentence vectors (`vectors-multi`) with the
weight that its card states: two views that err differently. Both hold a copy of the source for the best translation
there is, which no rater does, so words that were only copied cost.

In the transformer words are hashed n-grams; a first token, the source's words and the translation's are read together.
`train/quality.py` trains it. Each pair is read by itself, so that its company changes nothing. The translation is read
with the final mark of its source: what was trained on people's ratings takes a missing full stop for a missing half of
the sentence, and so would hold a change that harms nobody for worse than a wrong word.
"""

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from babelquake.languages import LanguagePair
from babelquake.models import sentence_encoder
from babelquake.models.base import Matrix, Vectors, sentence_rows
from babelquake.models.hashed_vectors import HashedModel
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


MOST_WORDS = 48
"""Words that are read of either side."""
HEADS = 4
FINAL_MARKS = {".": ".", "!": "!", "?": "?", ":": ":", ";": ".", "…": ".", "।": ".", "。": ".", "！": "!", "？": "?"}
"""What ends a source, and how that is written in most languages."""
FULL_WIDTH = {".": "。", "!": "！", "?": "？"}


class HashedQuality:
    """Ratings of translations, in standard deviations of the annotators' scores; `qe-multi` ships."""

    def __init__(self, model: str = "qe-multi") -> None:
        self.files = HashedModel(model, ("enter_weight", "rating_weight", "layers_0_mix_weight"))

    @cached_property
    def _weights(self) -> dict[str, Matrix]:
        """The arrays, matrices turned so that rows are multiplied from the left."""
        return {
            name: np.ascontiguousarray(value.T) if name.endswith("_weight") and value.ndim == 2 else value
            for name, value in self.files.weights.items()
        }

    def close(self) -> None:
        """Forget what was made of the weights."""
        self.__dict__.pop("_weights", None)

    def rate(self, sources: Sequence[str], translations: Sequence[str]) -> NDArray[np.float64]:
        """One number per pair; higher is better."""
        if not sources:
            return np.zeros(0)
        w = self._weights
        ended = map(with_final_mark, sources, translations)
        words, starts = self.files.words([*sources, *ended], MOST_WORDS)
        entered = words @ w["enter_weight"] + w["enter_bias"]
        sides = [entered[starts[n] : starts[n + 1]] for n in range(len(starts) - 1)]
        return np.array(
            [self._one(one, other) for one, other in zip(sides[: len(sources)], sides[len(sources) :], strict=True)]
        )

    def _one(self, source: Matrix, target: Matrix) -> float:
        w = self._weights
        x = np.concatenate(
            [
                w["first"][None],
                source + w["side"][0] + w["place"][: len(source)],
                target + w["side"][1] + w["place"][: len(target)],
            ]
        )
        layer = 0
        while f"layers_{layer}_mix_weight" in w:
            x = _layer(x, w, f"layers_{layer}_")
            layer += 1
        x = _normal(x, w["last_weight"], w["last_bias"])
        ahead = 1 + len(source)
        mean = x[ahead:].mean(axis=0) if len(target) else np.zeros_like(x[0])
        pooled = _gelu(np.concatenate([x[0], mean]) @ w["pooled_weight"] + w["pooled_bias"])
        return float(pooled @ w["rating_weight"][:, 0] + w["rating_bias"][0])


@cache
def _punctuation() -> str:
    """All marks, and the blanks between them."""
    return " " + "".join(sign for sign in map(chr, range(sys.maxunicode)) if unicodedata.category(sign).startswith("P"))


def with_final_mark(source: str, translation: str) -> str:
    """A translation that ends as its source does; where that has no final mark, as it is."""
    mark = FINAL_MARKS.get(source.rstrip(" \"'”’»)]")[-1:])
    text = translation.rstrip(_punctuation())
    if mark is None or not text:
        return translation
    return text + (FULL_WIDTH.get(mark, mark) if "\u3040" <= text[-1] <= "\u9fff" else mark)


def _layer(x: Matrix, w: dict[str, Matrix], prefix: str) -> Matrix:
    """Attention and feed-forward, each after a normalisation and added to what came in (Xiong et al. 2020)."""
    length, width = x.shape
    share = width // HEADS
    inside = _normal(x, w[prefix + "before_weight"], w[prefix + "before_bias"]) @ w[prefix + "mix_weight"]
    inside += w[prefix + "mix_bias"]
    q, k, v = np.ascontiguousarray(inside.reshape(length, 3, HEADS, share).transpose(1, 2, 0, 3))
    seen = np.empty((length, width), dtype=np.float32)
    for head in range(HEADS):
        likeness = q[head] @ k[head].T
        likeness *= np.float32(share**-0.5)
        likeness -= likeness.max(axis=1, keepdims=True)
        np.exp(likeness, out=likeness)
        likeness /= likeness.sum(axis=1, keepdims=True)
        seen[:, head * share : (head + 1) * share] = likeness @ v[head]
    x = x + seen @ w[prefix + "join_weight"]
    x += w[prefix + "join_bias"]
    inner = _normal(x, w[prefix + "between_weight"], w[prefix + "between_bias"]) @ w[prefix + "up_weight"]
    inner += w[prefix + "up_bias"]
    x += _gelu(inner) @ w[prefix + "down_weight"]
    x += w[prefix + "down_bias"]
    return x


def _normal(x: Matrix, weight: Matrix, bias: Matrix) -> Matrix:
    centred = x - x.mean(axis=-1, keepdims=True)
    spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.float32(1e-5))
    return np.asarray(centred / spread * weight + bias)


def _gelu(x: Matrix) -> Matrix:
    """GELU by its tanh form."""
    inner = x * x
    inner *= np.float32(0.044715)
    inner += np.float32(1)
    inner *= x
    inner *= np.float32(0.7978845608)
    np.tanh(inner, out=inner)
    inner += np.float32(1)
    inner *= x
    inner *= np.float32(0.5)
    return inner
