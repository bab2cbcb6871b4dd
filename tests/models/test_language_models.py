"""Masked and causal language models: what they say of a text is transformers' own, whatever the company."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.models.tiny import TEXTS, WORDS

from babelquake import models
from babelquake.errors import UserError
from babelquake.resource import Gap

Make = Callable[..., Path]
FIRST = Gap("the ", " sat on the mat .")
GAPS = [FIRST, Gap("", " dog barks !"), Gap("a law , a ", ""), FIRST]
WHOLE = {word for word in WORDS if word.isalpha()} | set("bdefghijklmnopqrstuvwxyz")


def test_fillers_are_whole_words_with_the_models_probabilities(made: Make) -> None:
    import torch

    masked = models.masked(str(made("bert", masked=True)))
    found = masked.fill(GAPS, 12)
    assert found[0] == found[3] and found == [masked.fill([gap], 12)[0] for gap in GAPS]
    assert all({offer.word for offer in offers} <= WHOLE for offers in found)
    core = masked.core  # type: ignore[attr-defined]
    tokens = core.tokenizer("the [MASK] sat on the mat .", return_tensors="pt")
    with torch.inference_mode():
        chances = torch.softmax(core.model(**tokens).logits[0, 2], dim=-1)
    best = found[0][0]
    assert best.probability == pytest.approx(float(chances[core.tokenizer.convert_tokens_to_ids(best.word)]), abs=1e-6)
    assert [offer.probability for offer in found[0]] == sorted((offer.probability for offer in found[0]), reverse=True)


def test_pieces_of_words_are_words_for_those_who_want_them(made: Make) -> None:
    name = str(made("bert", masked=True))
    whole, any_ = models.masked(name), models.masked(f"{name}[words=any]")
    more = any_.fill([FIRST], 100)[0]
    assert {offer.word for offer in more} == WHOLE | {"s", "ed", "a"}
    assert len(more) > len({offer.word for offer in more}), "'##a' and 'a' are two offers of one word"
    assert set(whole.fill([FIRST], 100)[0]) < set(more) and whole.signature != any_.signature


def test_a_gap_that_was_cut_off_gets_no_fillers_and_other_models_are_refused(made: Make) -> None:
    masked = models.masked(str(made("bert", masked=True)))
    assert masked.fill([Gap("the cat " * 60, " sat")], 5) == [[]]
    with pytest.raises(UserError):
        models.masked(str(made("gpt2"))).fill(GAPS, 5)


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_log_probabilities_are_those_of_each_text_alone(made: Make, kind: str) -> None:
    import torch

    causal = models.causal(str(made(kind)))
    together = causal.log_probabilities(TEXTS)
    core = causal.core  # type: ignore[attr-defined]
    for text, found in zip(TEXTS, together, strict=True):
        assert found.tobytes() == causal.log_probabilities([text])[0].tobytes()
        tokens = core.tokenizer(text)["input_ids"] or [core.tokenizer.eos_token_id]
        ids = torch.tensor([[core.tokenizer.bos_token_id, *tokens]])
        with torch.inference_mode():
            logits = torch.log_softmax(core.model(ids).logits, dim=-1)[0]
        expected = [float(logits[place, token]) for place, token in enumerate(tokens)]
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_long_texts_are_cut_to_what_the_model_takes(made: Make) -> None:
    causal = models.causal(f"{made('gpt2')}[tokens=100]")
    (found,) = causal.log_probabilities(["the cat " * 100])
    assert len(found) == 47 and causal.core.truncated == 1  # type: ignore[attr-defined]


def test_a_signature_names_content_and_precision(made: Make) -> None:
    causal = models.causal(str(made("gpt2")), precision="bfloat16")
    assert causal.signature.startswith("tiny-gpt2|content:") and "|precision:bfloat16|" in causal.signature
    assert causal.recipe.kind == "causal-lm" and str(causal.recipe.spec).endswith("tiny-gpt2[precision=bfloat16]")
