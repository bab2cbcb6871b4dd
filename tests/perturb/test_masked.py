"""A masked language model that fills gaps: a small one, made here."""

from pathlib import Path

import pytest

from babelquake.errors import UserError
from babelquake.perturb.base import Perturbation
from babelquake.text import words

pytestmark = pytest.mark.slow
WORDS = ["the", "court", "said", "no", "party", "seats", "law", "vote", "was", "valid"]


@pytest.fixture(scope="module")
def small_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'babelquake[neural]'")
    transformers = pytest.importorskip("transformers", reason="needs transformers: pip install 'babelquake[neural]'")
    folder = tmp_path_factory.mktemp("bert")
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", ",", "##s", "##ed", *WORDS]
    (folder / "vocab.txt").write_text("\n".join(pieces), "utf-8")
    transformers.BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(pieces), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    transformers.BertForMaskedLM(config).save_pretrained(folder)
    return folder


def test_map6_fills_gaps_with_whole_words(small_bert: Path) -> None:
    text = "The court said, no law was valid."
    perturbation = Perturbation("mask-replace", model=str(small_bert))
    variants = {perturbation.apply(text, lang="en", replicate=replicate) for replicate in range(10)}
    assert len(variants) > 3
    for variant in variants:
        assert variant is not None
        changed = [(old.text, new.text) for old, new in zip(words(text), words(variant), strict=True) if old != new]
        assert len({old for old, _ in changed}) >= 1
        assert {new.lower() for _, new in changed} <= set(WORDS)
        assert variant.endswith(".")
    assert perturbation.apply(text, lang="en", replicate=3) == perturbation.apply(text, lang="en", replicate=3)
    assert perturbation.apply("…", lang="en") is None


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="needs transformers: pip install 'babelquake[neural]'")
    with pytest.raises(UserError, match="mask-replace"):
        Perturbation("mask-replace", model=str(tmp_path)).apply("Some words.", lang="en")
