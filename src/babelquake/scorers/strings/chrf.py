"""chrF: the F-score of character n-grams (Popović 2015), and chrF++ with words (Popović 2017); equal to sacreBLEU's."""

from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np

from babelquake.errors import UserError
from babelquake.scorers.base import Array, Questions, Scorer
from babelquake.scorers.strings.sacrebleu_internals import chrf_signature
from babelquake.scorers.strings.symbols import Ids, Pairs, Symbols, characters, code_points, words
from babelquake.spec import Range

EPSILON = 1e-16
"""What chrF++.py, Moses and NLTK put for the precision or recall of an order without n-grams."""


class ChrF(Scorer):
    """Character n-gram F-score; with `word_order` 1 or 2, chrF+ or chrF++."""

    threads: ClassVar[bool] = True
    ratio_scale: ClassVar[bool] = True
    perfect: ClassVar[float | None] = 100.0

    def __init__(
        self,
        char_order: Annotated[int, Range(0, 50)] = 6,
        word_order: Annotated[int, Range(0, 50)] = 0,
        beta: Annotated[float, Range(0, 1000)] = 2,
        lowercase: bool = False,
        whitespace: bool = False,
        eps_smoothing: bool = False,
    ) -> None:
        if char_order + word_order < 1:
            raise UserError("chrf needs n-grams of some order: char_order or word_order must be at least 1.")
        self.char_order = char_order
        self.word_order = word_order
        self.beta = int(beta) if float(beta).is_integer() else beta
        self.lowercase = lowercase
        self.whitespace = whitespace
        self.eps_smoothing = eps_smoothing

    @property
    def signature(self) -> str:
        return self.signature_for(1)

    def signature_for(self, references: int | None) -> str:
        return chrf_signature(vars(self), references)

    def statistics(self, questions: Questions) -> Array:
        """Per order, characters first: n-grams in the translation, in the reference, in both.

        An order the reference is too short for counts no n-grams of the translation either. Of several references
        the first with the best F-score counts.
        """
        from babelquake.scorers.strings.kernels import one_mark

        pairs = Pairs.of(questions)
        texts = [text.lower() for text in pairs.texts] if self.lowercase else pairs.texts
        translation, reference, starts = pairs.flat()
        points = code_points(texts)
        parts = []
        if self.char_order:
            parts.append(_triples(characters(points, self.whitespace), translation, reference, self.char_order))
        if self.word_order:
            parts.append(_triples(words(points, one_mark), translation, reference, self.word_order))
        rows = np.concatenate(parts, axis=1)
        return rows if len(rows) == len(questions) else rows[_first_best(self.aggregate(rows), starts)]

    def aggregate(self, statistics: Array) -> Array:
        """Fβ = (1 + β²)·P·R / (β²·P + R), times 100, with P and R averaged over the orders both sides have n-grams of.

        With `eps_smoothing` the average is over the F-scores of all orders instead. Sums run order by order like
        sacreBLEU's, so that ties between references fall alike.
        """
        translated, referred, matched = np.moveaxis(self._by_order(statistics), -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            precisions = np.where(translated > 0, matched / translated, EPSILON)
            recalls = np.where(referred > 0, matched / referred, EPSILON)
        if self.eps_smoothing:
            return 100 * _running_sum(self._f_beta(precisions, recalls, EPSILON)) / self._orders
        counted = (translated > 0) & (referred > 0)
        effective = np.maximum(counted.sum(axis=-1), 1)
        precision = _running_sum(np.where(counted, precisions, 0.0)) / effective
        recall = _running_sum(np.where(counted, recalls, 0.0)) / effective
        return 100 * self._f_beta(precision, recall, 0.0)

    @cached_property
    def _orders(self) -> int:
        return self.char_order + self.word_order

    def _by_order(self, statistics: Array) -> Array:
        rows = np.asarray(statistics, dtype=np.float64)
        return rows.reshape(*rows.shape[:-1], self._orders, 3)

    def _f_beta(self, precision: Array, recall: Array, otherwise: float) -> Array:
        weight = self.beta**2
        below = weight * precision + recall
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(below > 0, (1 + weight) * precision * recall / below, otherwise)


class ChrFPlusPlus(ChrF):
    """chrF++: chrF with word unigrams and bigrams."""

    def __init__(
        self,
        char_order: Annotated[int, Range(0, 50)] = 6,
        word_order: Annotated[int, Range(0, 50)] = 2,
        beta: Annotated[float, Range(0, 1000)] = 2,
        lowercase: bool = False,
        whitespace: bool = False,
        eps_smoothing: bool = False,
    ) -> None:
        super().__init__(char_order, word_order, beta, lowercase, whitespace, eps_smoothing)


def _triples(symbols: Symbols, translation: Ids, reference: Ids, order: int) -> Array:
    """(in the translation, in the reference, in both) per order, shape (pairs, 3 · order)."""
    from babelquake.scorers.strings.kernels import shared, totals

    texts = np.arange(len(symbols.starts))
    matched = shared(symbols, translation, reference, texts, texts[:-1], order)
    n_grams = totals(symbols.lengths, order)
    referred = n_grams[reference]
    translated = np.where(referred > 0, n_grams[translation], 0)
    return np.stack([translated, referred, matched], axis=-1).reshape(len(translation), 3 * order).astype(np.float64)


def _running_sum(values: Array) -> Array:
    """The sum over the last axis, added from first to last."""
    total = np.zeros(values.shape[:-1])
    for order in range(values.shape[-1]):
        total += values[..., order]
    return total


def _first_best(scores: Array, starts: Ids) -> Ids:
    """The position of the greatest score in each stretch, the first among equals."""
    best = np.maximum.reduceat(scores, starts[:-1])
    is_best = scores == np.repeat(best, np.diff(starts))
    position = np.where(is_best, np.arange(len(scores)), len(scores))
    return np.asarray(np.minimum.reduceat(position, starts[:-1]))
