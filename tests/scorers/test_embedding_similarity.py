"""Cosine of sentence vectors as quality estimation."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from babelquake import models
from babelquake.errors import UserError
from babelquake.models.base import Matrix, SentenceEncoder
from babelquake.scorers import scorer


class AandB(SentenceEncoder):
    """Counts a and b."""

    signature = "ab-1"

    def sentences(self, texts: Sequence[str]) -> Matrix:
        return np.array([[text.count("a"), text.count("b")] for text in texts], dtype=np.float32)


@pytest.fixture
def letters(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a small encoder that is there for this test only."""
    monkeypatch.setitem(models.ENCODERS._things, "ab", AandB)
    return "ab"


def test_cosines_by_hand(letters: str) -> None:
    made = scorer("embedding-similarity", model=letters)
    found = made.segments(["aab", "b", "ccc", "ab"], sources=["ab", "a", "a", "ab"])
    assert found.tolist() == pytest.approx([3 / math.sqrt(10), 0, 0, 1])
    assert made.signature == "embedding-similarity|encoder:ab-1"


def test_it_is_quality_estimation(letters: str) -> None:
    made = scorer("embedding-similarity", model=letters)
    assert made.needs == {"source"}
    with pytest.raises(UserError, match="source"):
        made.segments(["a"], ["a"])


def test_a_good_translation_beats_an_unrelated_sentence() -> None:
    pytest.importorskip("babelquake_models", reason="needs the models that ship")
    made = scorer("embedding-similarity")
    good, bad = made.segments(["The cat is sleeping.", "Taxes rise in May."], sources=["Die Katze schläft."] * 2)
    assert good > bad + 0.2


def test_languages_it_was_not_trained_on_are_named() -> None:
    pytest.importorskip("babelquake_models", reason="needs the models that ship")
    made = scorer("embedding-similarity")
    assert made.unknown_languages(["de-en", "sw-en", None, "ne-en"]) == ["sw"]
    assert scorer("embedding-similarity[inputs=reference]").unknown_languages(["sw-en"]) == []


def test_models_that_ship_say_which_languages_they_do_not_know() -> None:
    pytest.importorskip("babelquake_models", reason="needs the models that ship")
    pytest.importorskip("torch", reason="needs the extra [neural]")
    for line in ("bertscore[model=minilm-en]", "perplexity[model=gpt-en]", "cross-encoder[model=judge-en]"):
        assert scorer(line).unknown_languages(["de-en", "en-de", "en-cs"]) == ["cs", "de"]
        assert scorer(line).language_notes(["de-en"]) == []


def test_qe_multi_names_languages_and_pairs_it_cannot_vouch_for() -> None:
    pytest.importorskip("babelquake_models", reason="needs the models that ship")
    made = scorer("qe-multi")
    assert made.language_notes(["ru-en", "en-zh", None]) == []
    (unknown,), (unrated,) = made.language_notes(["sw-en"]), made.language_notes(["ru-en", "en-cs"])
    assert "sw" in unknown and "en-cs" in unrated and "ru-en" not in unrated
