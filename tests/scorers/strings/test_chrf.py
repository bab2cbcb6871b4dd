"""chrF and chrF++ are sacreBLEU's, to the last digit."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import CHRF

from babelquake.errors import UserError
from babelquake.scorers import scorer

OPTIONS = [
    {},
    {"word_order": 2},
    {"word_order": 1, "lowercase": True},
    {"whitespace": True},
    {"eps_smoothing": True},
    {"eps_smoothing": True, "word_order": 2, "lowercase": True},
    {"char_order": 1, "beta": 1},
    {"char_order": 3, "beta": 3},
    {"char_order": 0, "word_order": 3},
    {"char_order": 10, "beta": 0},
]


def test_value_worked_out_by_hand() -> None:
    """ "ab" against "abc": unigrams P 2/2, R 2/3; bigrams P 1/1, R 1/2; no trigram in the translation."""
    precision, recall = 1.0, (2 / 3 + 1 / 2) / 2
    expected = 100 * 5 * precision * recall / (4 * precision + recall)
    assert scorer("chrf").segments(["ab"], ["abc"])[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_awkward_texts_agree_with_sacrebleu(
    options: dict[str, Any], awkward: list[str], agrees: Callable[..., None]
) -> None:
    pairs = [(left, [right]) for left, right in product(awkward, awkward)]
    agrees(scorer("chrf", **options), CHRF(**options), CHRF(**options), pairs)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), options=st.sampled_from(OPTIONS))
def test_any_text_agrees_with_sacrebleu(data: Any, options: Any, segment_lists: Any, agrees: Any) -> None:
    agrees(scorer("chrf", **options), CHRF(**options), CHRF(**options), data.draw(segment_lists))


@pytest.mark.slow
@pytest.mark.parametrize(("place", "options"), list(enumerate(OPTIONS[:6])))
def test_real_segments_agree_with_sacrebleu(place: int, options: Any, real_segments: Any, agrees: Any) -> None:
    """Every segment under one of the options: sacreBLEU takes a minute for all under each."""
    agrees(scorer("chrf", **options), CHRF(**options), CHRF(**options), real_segments[place::6])


def test_the_first_of_equally_good_references_counts() -> None:
    rows = scorer("chrf", char_order=1).segments(["ab", "ab"], [["abc", "abd"], ["xyz", "ab"]])
    assert rows[1] == 100


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:"),
        ({"word_order": 2, "lowercase": True}, "chrF2++|nrefs:1|case:lc|eff:yes|nc:6|nw:2|space:no|version:"),
        (
            {"beta": 3, "whitespace": True, "eps_smoothing": True},
            "chrF3|nrefs:1|case:mixed|eff:no|nc:6|nw:0|space:yes|",
        ),
    ],
)
def test_signature_is_sacrebleus(options: Any, expected: str) -> None:
    assert scorer("chrf", **options).signature.startswith(expected)
    metric = CHRF(**options)
    metric.corpus_score(["a"], [["a"]])
    assert str(metric.get_signature()) in scorer("chrf", **options).signature


def test_chrf_plus_plus_is_chrf_with_words() -> None:
    plus, spelled_out = scorer("chrf++"), scorer("chrf[word_order=2]")
    assert plus.signature == spelled_out.signature
    translations, references = ["the cat sat."], ["a cat sat, (well)."]
    assert np.array_equal(plus.segments(translations, references), spelled_out.segments(translations, references))


def test_a_segment_without_reference_is_named() -> None:
    with pytest.raises(UserError, match="segment 2 has no reference"):
        scorer("chrf").segments(["a", "b"], [["a"], []])


def test_no_order_at_all_is_refused() -> None:
    with pytest.raises(UserError, match="char_order or word_order"):
        scorer("chrf[char_order=0]")
