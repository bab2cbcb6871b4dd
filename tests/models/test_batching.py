"""Vectors that stay where they were computed; the device is the CPU here."""

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from babelquake import models
from babelquake.engine import Engine
from babelquake.engine.memory import OVERHEAD
from babelquake.models import encoders
from babelquake.models.batching import OnDevice, in_one_piece, on_host, rows_of
from babelquake.scorers import Questions, bertscore, scorer

pytest.importorskip("torch", reason="needs the extra [neural]")
Make = Callable[..., Path]
TEXTS = ["the cat sat on the mat", "a dog", "", "Dogs bark ! " * 9]


@pytest.fixture
def staying(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoders, "stays", lambda device: True)
    monkeypatch.setattr(bertscore, "on_gpu", lambda device: True)


def test_whoever_looks_gets_the_same_arrays(made: Make, staying: None, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = models.encoder(str(made("bert"))).encode(TEXTS, [0, 2])
    sentences = models.encoder(f"hf:{made('bert')}").encode(TEXTS, [0])
    monkeypatch.setattr(encoders, "stays", lambda device: False)
    plain = models.encoder(str(made("bert"))).encode(TEXTS, [0, 2])
    for one, other in zip(kept, plain, strict=True):
        assert isinstance(one.layers, OnDevice) and set(one.layers) == {0, 2} and 1 not in one.layers
        assert one.nbytes == other.nbytes
        for found in (one, pickle.loads(pickle.dumps(one))):
            assert all(found.layers[layer].tobytes() == other.layers[layer].tobytes() for layer in (0, 2))
        assert type(pickle.loads(pickle.dumps(one)).layers) is dict
    for one, other in zip(sentences, models.encoder(f"hf:{made('bert')}").encode(TEXTS, [0]), strict=True):
        assert one.layers[0].tobytes() == other.layers[0].tobytes()


def test_each_text_has_memory_of_its_own(made: Make, staying: None) -> None:
    """What the engine counts is what an entry holds: no text keeps those beside it alive."""
    for one in models.encoder(str(made("bert"))).encode(TEXTS, [2]):
        tensor = rows_of(one.layers, 2)
        assert tensor.untyped_storage().nbytes() == tensor.nbytes == one.nbytes - one.ids.nbytes


def test_the_engines_memory_is_bounded_by_what_stays(made: Make, staying: None) -> None:
    engine = Engine(memory_bytes=3 * (OVERHEAD + 2000))
    encoder = models.encoder(str(made("bert")))
    engine.encode(encoder, [f"a text with the number {number}" for number in range(20)], [1, 2])
    assert 0 < len(engine.memory) < 20 and engine.memory.bytes <= engine.memory.bound


def test_pieces_from_everywhere() -> None:
    import torch

    arrays = [np.full((rows, 2), rows, dtype=np.float32) for rows in (1, 2, 3)]
    tensors = [torch.from_numpy(array) for array in arrays]
    for parts in (arrays, tensors, [arrays[0], *tensors[1:]]):
        np.testing.assert_array_equal(in_one_piece(parts, "cpu").numpy(), np.concatenate(arrays))
        for found, array in zip(on_host(parts, "cpu"), arrays, strict=True):
            np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize("layer", ["1", "mean", "mean-embeddings"])
def test_bertscore_of_vectors_that_stay(made: Make, staying: None, monkeypatch: pytest.MonkeyPatch, layer: str) -> None:
    questions = Questions(TEXTS, [[text, TEXTS[0]] for text in reversed(TEXTS)])
    found = Engine().judge(scorer("bertscore", model=str(made("bert")), layer=layer), questions)
    monkeypatch.setattr(encoders, "stays", lambda device: False)
    monkeypatch.setattr(bertscore, "on_gpu", lambda device: False)
    expected = Engine().judge(scorer("bertscore", model=str(made("bert")), layer=layer), questions)
    np.testing.assert_allclose(found, expected, atol=1e-6)
