"""Texts in one row: each is read as if it were alone, to the last bit."""

import random
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.tiny import TEXTS

from babelquake import models
from babelquake.models import sequence_reader
from babelquake.models.sequence_reader import ribbon
from babelquake.resource import Gap
from babelquake.scorers.cross_encoder import PairReader

torch = pytest.importorskip("torch", reason="needs the extra [neural]")
Make = Callable[..., Path]
SENTENCES = [" ".join(TEXTS[(start + step) % 6] for step in range(count)) for start in range(6) for count in (1, 2, 3)]
Sequences = st.lists(st.lists(st.integers(0, 5), min_size=2, max_size=70), min_size=1, max_size=12)


def in_company(answer: Callable[[list[str]], list[np.ndarray]], texts: list[str]) -> None:
    """The same bytes alone, among few and among all, in any order."""
    whole = dict(zip(texts, answer(texts), strict=True))
    mixed = random.Random(1).sample(texts, len(texts))
    for size in (1, 5):
        for start in range(0, len(mixed), size):
            part = mixed[start : start + size]
            for text, found in zip(part, answer(part), strict=True):
                assert found.tobytes() == whole[text].tobytes()


@pytest.mark.slow
def test_models_that_ship_read_a_text_as_if_it_were_alone() -> None:
    texts = [f"{text} and number {number}, which is longer" for number, text in enumerate(SENTENCES)][::2]
    torch.set_num_threads(1)
    encoder, causal, masked = models.encoder("minilm-en"), models.causal("gpt-en"), models.masked("minilm-en")
    in_company(lambda some: [one.layers[6] for one in encoder.encode(some, [6])], texts)
    in_company(causal.log_probabilities, texts)  # type: ignore[arg-type]
    in_company(
        lambda some: [
            np.array([filler.probability for filler in fillers])
            for fillers in masked.fill([Gap(text, " .") for text in some], 20)
        ],
        texts,
    )
    pairs = PairReader("judge-en")
    in_company(lambda some: [np.array(score) for score in pairs.scores(some, texts[:1] * len(some))], texts)


@given(Sequences)
def test_a_ribbon_holds_every_text_once_and_positions_begin_anew(sequences: list[list[int]]) -> None:
    config = SimpleNamespace(model_type="bert", pad_token_id=0)
    made = ribbon(sequences, config, "cpu", 4096)
    for (start, length), sequence in zip(made.spans, sequences, strict=True):
        assert made.ids[start : start + length].tolist() == sequence
        assert made.positions[start : start + length].tolist() == list(range(length))
    assert sum(group.rows * group.length for group in made.groups) == sum(map(len, sequences))
    assert len(made.ids) == max(128, sum(map(len, sequences)))


def test_roberta_counts_positions_as_transformers_does() -> None:
    from transformers.models.roberta.modeling_roberta import RobertaEmbeddings

    config = SimpleNamespace(model_type="roberta", pad_token_id=1)
    sequence = [0, 7, 1, 9, 2]  # a padding token in the midst of a text
    expected = RobertaEmbeddings.create_position_ids_from_input_ids(torch.tensor([sequence]), 1)
    assert ribbon([sequence], config, "cpu", 4096).positions[:5].tolist() == expected[0].tolist()


@pytest.mark.parametrize("kind", ["bert", "roberta", "xlm-roberta", "xlm-roberta-xl", "gpt2"])
def test_a_gpus_layout_gives_the_same_vectors(made: Make, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Padded texts, masks and a row of fixed size, computed here on the CPU."""
    encoder = models.encoder(str(made(kind)))
    expected = encoder.encode(TEXTS, [3])
    monkeypatch.setattr(sequence_reader, "on_gpu", lambda device: True)
    found = models.encoder(f"{made(kind)}[tokens=1000]").encode(TEXTS, [3])
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_allclose(one.layers[3], other.layers[3], atol=1e-5)


def test_blocks_of_equal_length_give_the_same_vectors(made: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = models.encoder(str(made("bert"))).encode(TEXTS, [3])
    monkeypatch.setattr(sequence_reader, "READERS", {})
    blocks = models.encoder(f"{made('bert')}[tokens=900]")
    found = blocks.encode(TEXTS, [3])
    assert not blocks.core.ribbons  # type: ignore[attr-defined]
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_allclose(one.layers[3], other.layers[3], atol=1e-5)
