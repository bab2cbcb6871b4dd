"""Packed weights are the weights, to within half a step of their row; plain transformers reads what is written out."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from babelquake.errors import UserError
from babelquake.models.int8_weights import export, is_packed, pack, pretrained, unpack

torch = pytest.importorskip("torch")
transformers: Any = pytest.importorskip("transformers")


@pytest.fixture
def tiny() -> Any:
    torch.manual_seed(3)
    return transformers.BertForMaskedLM(
        transformers.BertConfig(
            vocab_size=50, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32
        )
    ).eval()


def packed(model: Any, folder: Path) -> Path:
    from babelquake.train.training import untied

    state = {name: value.detach().numpy() for name, value in model.state_dict().items()}
    pack(untied(state, model), folder)
    model.config.save_pretrained(str(folder))
    return folder


def test_each_number_is_within_half_a_step_of_its_row(tmp_path: Path) -> None:
    rows = np.random.default_rng(1).normal(size=(5, 40)).astype(np.float32)
    rows[2] = 0
    pack({"matrix": rows, "vector": rows[0]}, tmp_path)
    found = unpack(tmp_path)
    step = np.abs(rows).max(1, keepdims=True) / 127
    assert (np.abs(found["matrix"].numpy() - rows) <= step / 2 + 1e-7).all()
    assert (found["vector"].numpy() == rows[0]).all()


def test_the_masked_model_and_its_bare_encoder_load_from_one_folder(tiny: Any, tmp_path: Path) -> None:
    folder = packed(tiny, tmp_path)
    assert is_packed(folder)
    ids = torch.arange(1, 9)[None]
    whole = pretrained(transformers.AutoModelForMaskedLM, folder)
    bare = pretrained(transformers.AutoModel, folder)
    with torch.inference_mode():
        assert torch.allclose(whole(input_ids=ids).logits, tiny(input_ids=ids).logits, atol=0.02)
        hidden = tiny.bert(input_ids=ids).last_hidden_state
        assert torch.allclose(bare(input_ids=ids).last_hidden_state, hidden, atol=0.05)


def test_plain_transformers_reads_the_export(tiny: Any, tmp_path: Path) -> None:
    folder = export(packed(tiny, tmp_path / "packed"), tmp_path / "plain")
    plain = transformers.AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float32).eval()
    ids = torch.arange(1, 9)[None]
    with torch.inference_mode():
        assert torch.allclose(plain(input_ids=ids).logits, tiny(input_ids=ids).logits, atol=0.02)


def test_weights_of_another_kind_are_refused(tiny: Any, tmp_path: Path) -> None:
    folder = packed(tiny, tmp_path)
    with pytest.raises(UserError, match=r"of another kind: it has no weights for classifier\.weight"):
        pretrained(transformers.AutoModelForSequenceClassification, folder)
