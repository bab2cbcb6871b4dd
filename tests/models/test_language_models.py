"""Masked and causal language models: what they say of a text is transformers' own, whatever the company.

What texts have in common at their beginning is read once, and every text is found again.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.tiny import TEXTS, WORDS

from babelquake import models
from babelquake.errors import UserError
from babelquake.models.language_models import alike, beginnings
from babelquake.resource import Gap

pytest.importorskip("torch", reason="needs the extra [neural]")
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


Sequences = st.lists(st.lists(st.integers(0, 5), min_size=2, max_size=70), min_size=1, max_size=12)


@given(Sequences)
def test_beginnings_are_distinct_and_lead_to_every_text(sequences: list[list[int]]) -> None:
    tree = beginnings(sequences, "cpu", 4096)
    ids = tree.ribbon.ids.tolist()
    for path, sequence in zip(tree.paths, sequences, strict=True):
        assert tree.tokens[path].tolist() == sequence[1:]
        assert [ids[tree.parents[end]] for end in path] == sequence[:-1]
    distinct = {(-(-(len(one) - 1) // 32), *one[:size]) for one in sequences for size in range(1, len(one))}
    assert tree.nodes == len(distinct)


@given(Sequences, st.integers(1, 100))
def test_portions_hold_every_text_once_and_respect_the_limit(sequences: list[list[int]], tokens: int) -> None:
    portions = list(alike(sequences, tokens))
    assert sorted(place for portion in portions for place in portion) == list(range(len(sequences)))
    for portion in portions:
        nodes = beginnings([sequences[place] for place in portion], "cpu", 4096).nodes
        assert len(portion) == 1 or nodes <= tokens


def test_variants_of_a_sentence_cost_what_is_new_in_them(made: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    from babelquake.models import language_models

    nodes = []

    def counted(*given: object) -> object:
        tree = beginnings(*given)  # type: ignore[arg-type]
        nodes.append(tree.nodes)
        return tree

    monkeypatch.setattr(language_models, "beginnings", counted)
    causal = models.causal(str(made("gpt2")))
    causal.log_probabilities(["the cat sat on the mat ."])
    causal.log_probabilities([f"the cat sat on the mat {mark}" for mark in ".,!."])
    alone, together = nodes
    assert together <= alone + 2
