"""Searches ask scorers and models through the engine, pooled, and leave nothing on disk unless told to."""

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from babelquake.engine import Ask, Cache, Engine
from babelquake.models.base import CausalLM, MaskedLM, Matrix
from babelquake.resource import Filler, Gap
from babelquake.scorers.base import Array, MeanScorer, Question, Questions
from babelquake.spec import Spec


class Longer(MeanScorer):
    """Characters of the translation less those of the reference."""

    costly = True
    spec = Spec("longer")
    signature = "longer-1"

    def __init__(self) -> None:
        self.batches: list[int] = []

    def judge(self, questions: Questions) -> Array:
        self.batches.append(len(questions))
        assert questions.references is not None
        pairs = zip(questions.translations, questions.references, strict=True)
        return np.array([len(text) - len(references[0]) for text, references in pairs], dtype=np.float64)


class Vowels(MaskedLM):
    """Offers vowels for any gap."""

    spec = Spec("vowels")
    signature = "vowels-1"

    def __init__(self) -> None:
        self.asked: list[Gap] = []

    def fill(self, gaps: Sequence[Gap], top: int) -> list[list[Filler]]:
        self.asked += gaps
        return [[Filler(vowel, 1 / top) for vowel in "aeiou"[:top]] for _ in gaps]


class Coin(CausalLM):
    """Every character has probability one half."""

    spec = Spec("coin")
    signature = "coin-1"

    def log_probabilities(self, texts: Sequence[str]) -> list[Matrix]:
        return [np.full(len(text), np.log(0.5), dtype=np.float32) for text in texts]


Search = Generator[list[Any], list[Any], tuple[str, float, float]]


def grow(word: str, masked: MaskedLM, causal: CausalLM) -> Search:
    """Insert a letter where a model offers one, until the scorer sees three characters too many."""
    text, score = word, 0.0
    while score < 3:
        (offers,) = yield [Ask(masked, Gap(text, ""), 2)]
        candidates = [text + offer.word for offer in offers]
        scores = yield [Question(candidate, (word,)) for candidate in candidates]
        score, text = max(zip(scores, candidates, strict=True))
    (weights,) = yield [Ask(causal, text)]
    return text, score, float(weights.sum())


def test_searches_side_by_side_ask_in_full_batches_and_store_nothing(tmp_path: Path) -> None:
    cache, scorer, masked = Cache(tmp_path / "c.sqlite"), Longer(), Vowels()
    words = [f"w{number:02}" for number in range(20)]
    found = dict(Engine(cache).search((grow(word, masked, Coin()) for word in words), scorer))
    for place, word in enumerate(words):
        assert found[place] == (f"{word}eee", 3.0, pytest.approx(6 * np.log(0.5)))
    assert scorer.batches == [40, 40, 40]
    assert cache.info().entries == 0


def test_what_is_kept_is_found_again(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "c.sqlite")
    for known in (False, True):
        scorer, masked = Longer(), Vowels()
        dict(Engine(cache).search([grow("w", masked, Coin())], scorer, stored=True))
        assert bool(scorer.batches) != known and bool(masked.asked) != known


def test_fillers_and_log_probabilities_are_cached_and_told_apart_by_option(tmp_path: Path) -> None:
    cache, masked = Cache(tmp_path / "c.sqlite"), Vowels()
    gaps = [Gap("a", "b"), Gap("", "ab"), Gap("a", "b")]
    assert Engine(cache).fill(masked, gaps, 1) == [[Filler("a", 1.0)]] * 3 and len(masked.asked) == 2
    assert Engine(cache).fill(masked, gaps, 1) == [[Filler("a", 1.0)]] * 3 and len(masked.asked) == 2
    assert len(Engine(cache).fill(masked, gaps, 2)[0]) == 2 and len(masked.asked) == 4
    first = Engine(cache).log_probabilities(Coin(), ["ab", "", "abc"])
    again = Engine(cache).log_probabilities(Coin(), ["ab", "", "abc"])
    assert [row.tolist() for row in first] == [row.tolist() for row in again] and [len(row) for row in again] == [
        2,
        0,
        3,
    ]
