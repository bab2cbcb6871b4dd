"""Encodings: each text once, within a bound, whatever asks for them."""

from collections.abc import Sequence

import numpy as np
import pytest

from babelquake.engine import Engine, Memory
from babelquake.engine.memory import size_of
from babelquake.models.base import Encoder, Encoding, Vectors
from babelquake.scorers.base import Array, Questions, VectorScorer, Wanted
from babelquake.spec import Spec


class Counting(Encoder):
    """One row per character, and a record of what was asked."""

    spec = Spec("counting")

    def __init__(self, signature: str = "counting-1") -> None:
        self.asked: list[str] = []
        self.layers: list[tuple[int, ...]] = []
        self._signature = signature

    @property
    def signature(self) -> str:
        return self._signature

    @property
    def depth(self) -> int:
        return 4

    def encode(self, texts: Sequence[str], layers: Sequence[int]) -> list[Encoding]:
        self.asked += texts
        self.layers.append(tuple(layers))
        return [self.one(text, layers) for text in texts]

    @staticmethod
    def one(text: str, layers: Sequence[int]) -> Encoding:
        codes = np.array([ord(char) for char in text], dtype=np.int32)
        return Encoding(
            {layer: codes[:, None].astype(np.float32) + layer for layer in layers}, codes, np.zeros(len(text), np.bool_)
        )


class Lengths(VectorScorer):
    """The difference of the numbers of rows of translation and reference."""

    spec = Spec("lengths")
    signature = "lengths-1"

    def __init__(self, encoder: Encoder, layer: int = 1) -> None:
        self.encoder, self.layer = encoder, layer

    def encoders(self) -> tuple[Wanted, ...]:
        return (Wanted(self.encoder, (self.layer,)),)

    def compare(self, questions: Questions, vectors: tuple[Vectors, ...]) -> Array:
        (found,) = vectors
        rows = [
            len(found[text].layers[self.layer]) - len(found[references[0]].layers[self.layer])
            for text, references in zip(questions.translations, questions.references or [], strict=True)
        ]
        return np.array(rows, dtype=np.float64)


def test_each_text_is_encoded_once() -> None:
    encoder, engine = Counting(), Engine()
    assert engine.encode(encoder, ["a", "bb", "a"], (1, 2))["bb"].layers[2].tolist() == [[100.0], [100.0]]
    engine.encode(encoder, ["bb", "c"], (1,))
    assert encoder.asked == ["bb", "a", "c"]


def test_a_further_layer_comes_with_those_that_are_known() -> None:
    encoder, memory = Counting(), Memory()
    memory.encode(encoder, ["a", "b"], (1,))
    found = memory.encode(encoder, ["a"], (3,))
    assert found["a"].layers.keys() == {1, 3} and encoder.layers == [(1,), (1, 3)]
    memory.encode(encoder, ["a"], (1, 3))
    assert len(encoder.layers) == 2


def test_two_encoders_do_not_meet() -> None:
    first, second, memory = Counting("one"), Counting("other"), Memory()
    memory.encode(first, ["a"], (1,))
    memory.encode(second, ["a"], (1,))
    assert first.asked == second.asked == ["a"]


def test_memory_is_bounded_and_drops_the_least_recently_used() -> None:
    one = size_of(("counting-1", "a"), Counting.one("a", (1,)))
    encoder, memory = Counting(), Memory(bound=2 * one)
    for text in "abacb":
        memory.encode(encoder, [text], (1,))
        assert memory.bytes <= memory.bound
    assert encoder.asked == ["a", "b", "c", "b"]
    assert len(memory) == 2 and memory.bytes == 2 * one


def test_a_thousand_texts_do_not_outgrow_the_bound_and_are_all_there() -> None:
    encoder = Counting()
    engine = Engine(memory_bytes=50_000)
    texts = [f"text number {number} " * 20 for number in range(1000)]
    found = engine.encode(encoder, texts, (1,))
    assert found.keys() == set(texts) and engine.memory.bytes <= 50_000
    engine.memory.clear()
    assert engine.memory.bytes == len(engine.memory) == 0


def test_a_text_larger_than_the_bound_is_not_kept() -> None:
    encoder, memory = Counting(), Memory(bound=10)
    assert memory.encode(encoder, ["abc"], (1,))["abc"].ids.tolist() == [97, 98, 99]
    assert len(memory) == 0


@pytest.mark.parametrize("bound", [2**20, 2000, 0])
def test_scorers_of_one_encoder_share_its_vectors_and_the_bound_changes_no_score(bound: int) -> None:
    encoder, engine = Counting(), Engine(memory_bytes=bound)
    references = [["reference"] for _ in range(30)]
    questions = Questions(["x" * (1 + number % 10) for number in range(30)], references)
    rows = engine.judge(Lengths(encoder), questions)
    assert rows[:, 0].tolist() == [1 + number % 10 - 9 for number in range(30)]
    assert np.array_equal(rows, Lengths(Counting()).statistics(questions))
    if bound == 2**20:
        assert len(encoder.asked) == 11
        engine.judge(Lengths(encoder), questions)
        assert len(encoder.asked) == 11
