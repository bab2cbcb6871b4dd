"""Each recipe trains on a tiny corpus in seconds, learns something from it, and leaves a model that loads."""

import json
from pathlib import Path
from typing import Any

import pytest

from babelquake.errors import UserError
from babelquake.models.int8_weights import pretrained
from babelquake.train.config import CausalRecipe, MaskedRecipe, read_settings

torch = pytest.importorskip("torch")
transformers: Any = pytest.importorskip("transformers")
pytestmark = pytest.mark.usefixtures("one_thread")
SHAPE = {"width": 32, "layers": 2, "heads": 2, "feedforward": 64}
SENTENCES = [
    f"the {one} {verb} the {other}"
    for one in ("cat", "dog", "fox")
    for verb in ("saw", "met")
    for other in ("cow", "hen")
]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "train.animals.txt").write_text("\n".join(SENTENCES), encoding="utf-8")
    (folder / "dev.animals.txt").write_text("\n".join(SENTENCES[:6]), encoding="utf-8")
    return folder


def common(steps: int) -> dict[str, Any]:
    return {"name": "tiny", "batch_tokens": 512, "length": 64, "learning_rate": 0.01, "warmup": 5, "steps": steps}


@pytest.mark.slow
def test_bytes_learn_to_fill_masked_words(texts: Path, tmp_path: Path) -> None:
    from babelquake.train.mlm import train

    config = common(60) | {"units": "bytes", "shape": SHAPE, "dropout": 0.0, "accents": 0.3, "seed": 3}
    out = train(config, texts, tmp_path / "model", device="cpu")
    card = json.loads((out / "card.json").read_text("utf-8"))
    assert card["figures"]["animals"]["accuracy"] > 0.3
    model = pretrained(transformers.AutoModelForMaskedLM, out)
    tokenizer = transformers.AutoTokenizer.from_pretrained(out)
    assert tokenizer("a\u00e9")["input_ids"] == [100, 198, 172, 1]
    assert tokenizer.mask_token_id == 259 == model.config.vocab_size - 1


def test_subwords_go_on_from_an_encoder(texts: Path, tmp_path: Path) -> None:
    from babelquake.train.mlm import train

    start = encoder(tmp_path / "start")
    out = train(common(60) | {"start": str(start), "seed": 1}, texts, tmp_path / "model", device="cpu")
    figures = json.loads((out / "card.json").read_text("utf-8"))["figures"]["animals"]
    assert figures["accuracy"] > 0.3
    whole = pretrained(transformers.AutoModelForMaskedLM, out)
    assert whole.cls.predictions.decoder.weight is whole.bert.embeddings.word_embeddings.weight


def test_a_causal_model_prefers_what_it_read(texts: Path, tmp_path: Path) -> None:
    from babelquake.train.clm import train

    config = common(80) | {"vocabulary": 300, "shape": SHAPE, "dropout": 0.0, "passes": {"animals": 2}, "seed": 1}
    out = train(config, texts, tmp_path / "model", device="cpu")
    figures = json.loads((out / "card.json").read_text("utf-8"))["figures"]["animals"]
    assert figures["one word deleted"] == 1.0
    assert figures["letters swapped in two words"] is None  # words of three letters cannot be broken so
    assert pretrained(transformers.GPT2LMHeadModel, out).config.vocab_size <= 300


@pytest.mark.parametrize("pooling", ["first", "mean"])
def test_a_metric_learns_the_scores_it_is_shown(tmp_path: Path, pooling: str) -> None:
    from babelquake.train.metric import train

    start, data = encoder(tmp_path / "start"), tmp_path / "rated"
    data.mkdir()
    rows = [f"{text}\t{other}\t{float(text == other)}" for text in SENTENCES for other in (text, "hen hen", "cow")]
    (data / "train.tsv").write_text("\n".join(rows), encoding="utf-8")
    (data / "dev.tsv").write_text("\n".join(rows), encoding="utf-8")
    config = common(60) | {"start": str(start), "pooling": pooling, "dropout": 0.0, "learning_rate": 0.003}
    out = train(config, data, tmp_path / "model", device="cpu")
    figures = json.loads((out / "card.json").read_text("utf-8"))["figures"]["dev"]
    assert figures["pearson"] > 0.9
    assert figures["pearson within sentences"] > 0.9


def test_the_recipes_that_ship_are_read() -> None:
    from babelquake.train.config import MetricRecipe, bundled

    for name in bundled("mlm"):
        assert read_settings(MaskedRecipe, "mlm", name).card["limits"]
    assert read_settings(CausalRecipe, "clm", "gpt-en", seed=7).seed == 7
    assert read_settings(MetricRecipe, "metric", "judge-en", minutes=1.0).steps is None


def test_a_wrong_setting_is_named() -> None:
    with pytest.raises(UserError, match="Did you mean 'vocabulary'"):
        read_settings(CausalRecipe, "clm", {"name": "x", "steps": 1, "vocabulry": 3})
    with pytest.raises(UserError, match="either steps or minutes"):
        read_settings(CausalRecipe, "clm", {"name": "x"})
    with pytest.raises(UserError, match="expected subwords or bytes"):
        read_settings(MaskedRecipe, "mlm", {"name": "x", "steps": 1, "units": "letters"})


def encoder(folder: Path) -> Path:
    """A random BERT with one word a token."""
    words = sorted({word for sentence in SENTENCES for word in sentence.split()})
    folder.mkdir()
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    transformers.BertTokenizer(str(folder / "vocab.txt")).save_pretrained(str(folder))
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    transformers.BertModel(config).save_pretrained(str(folder))
    return folder
