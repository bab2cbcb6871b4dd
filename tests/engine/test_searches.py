"""Searches run side by side give the answers they give alone."""

import gc
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from babelquake.engine import Ask, Cache, Engine, pool
from babelquake.models.base import CausalLM, MaskedLM, Matrix
from babelquake.resource import Filler, Gap
from babelquake.scorers.base import Array, MeanScorer, Question, Questions
from babelquake.spec import Spec

Search = Generator[list[int], list[int], str]


def search(name: str, rounds: list[int]) -> Search:
    """Asks for as many numbers as each round says and reports all it was told."""
    told: list[int] = []
    for place, count in enumerate(rounds):
        told += yield [100 * len(name) + 10 * place + question for question in range(count)]
    return f"{name}: {told}"


def square(questions: list[int]) -> list[int]:
    return [question**2 for question in questions]


PLANS = {"a": [3, 1], "bb": [2], "ccc": [], "dddd": [1, 0, 4, 2], "eeeee": [5, 5, 5]}


def alone(name: str) -> str:
    asking = search(name, PLANS[name])
    try:
        questions = next(asking)
        while True:
            questions = asking.send(square(questions))
    except StopIteration as end:
        return str(end.value)


@pytest.mark.parametrize("width", [1, 2, 5, 100])
def test_the_answers_are_those_of_each_search_alone(width: int) -> None:
    found = dict(pool((search(name, rounds) for name, rounds in PLANS.items()), square, width))
    assert [found[place] for place in range(len(PLANS))] == [alone(name) for name in PLANS]


def test_questions_are_merged_into_one_list() -> None:
    asked: list[int] = []

    def answer(questions: list[int]) -> list[int]:
        asked.append(len(questions))
        return square(questions)

    list(pool([search(name, rounds) for name, rounds in PLANS.items()], answer))
    assert asked == [3 + 2 + 1 + 5, 1 + 0 + 5, 4 + 5, 2]


def test_no_more_than_width_searches_are_open() -> None:
    open_now = most = 0

    def counted(name: str) -> Search:
        nonlocal open_now, most
        open_now += 1
        most = max(most, open_now)
        yield [1]
        yield [2]
        open_now -= 1
        return name

    assert len(list(pool((counted(str(number)) for number in range(20)), square, width=4))) == 20
    assert most == 4


def test_searches_that_finish_at_once_ask_nothing() -> None:
    def nothing(questions: list[int]) -> list[int]:
        raise AssertionError("asked")

    assert sorted(pool([search("x", []) for _ in range(3)], nothing)) == [(0, "x: []"), (1, "x: []"), (2, "x: []")]
    assert list(pool([], nothing)) == []


def test_too_few_answers_are_noticed() -> None:
    with pytest.raises(ValueError, match="1 answers to 2 questions"):
        list(pool([search("a", [2])], lambda questions: questions[:1]))


def watching(seen: list[tuple[int, int]]) -> Generator[list[int], list[int], int]:
    (answer,) = yield [1]
    seen.append((gc.get_threshold()[0], gc.get_freeze_count()))
    return answer


def test_searches_are_not_disturbed() -> None:
    before, seen = gc.get_threshold(), list[tuple[int, int]]()
    assert list(pool([watching(seen)], lambda asked: asked)) == [(0, 1)]
    threshold, frozen = seen[0]
    assert threshold > before[0] and frozen > 0
    assert gc.get_threshold() == before and gc.get_freeze_count() == 0


def test_an_error_leaves_the_collector_as_it_was() -> None:
    before = gc.get_threshold()

    def broken(asked: list[int]) -> list[int]:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        list(pool([watching([])], broken))
    assert gc.get_threshold() == before and gc.get_freeze_count() == 0


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


Asking = Generator[list[Any], list[Any], tuple[str, float, float]]


def grow(word: str, masked: MaskedLM, causal: CausalLM) -> Asking:
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
    dict(Engine(cache).search((grow(word, masked, Coin()) for word in words), scorer))
    assert scorer.batches == [40] * 6  # asked again: nothing was stored


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
