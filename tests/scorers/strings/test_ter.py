"""TER is sacreBLEU's, to the last digit."""

import os
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import TER

from babelquake.scorers import scorer

NAMES = ("normalized", "no_punct", "asian_support", "case_sensitive")
OPTIONS = [dict(zip(NAMES, values, strict=True)) for values in product((False, True), repeat=4)]

FEW_WORDS = st.lists(st.sampled_from("abcd"), max_size=14).map(" ".join)
LONG = st.integers(2, 6).flatmap(
    lambda kinds: st.lists(st.sampled_from("abcdefgh"[:kinds]), min_size=30, max_size=130).map(" ".join)
)


def test_values_worked_out_by_hand() -> None:
    """One shift moves "d e" to the front; one word of four is wrong; an empty reference costs 100."""
    found = scorer("ter").segments(["a b c d e", "a x c d", "a", ""], ["d e a b c", "a b c d", "", ""])
    assert found.tolist() == [20.0, 25.0, 100.0, 0.0]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "+".join(k for k in options if options[k]) or "plain")
def test_awkward_texts_agree_with_sacrebleu(options: Any, awkward: list[str], agrees: Any) -> None:
    pairs = [(left, [right]) for left, right in product(awkward, awkward)]
    agrees(scorer("ter", **options), TER(**options), TER(**options), pairs)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), options=st.sampled_from(OPTIONS))
def test_any_text_agrees_with_sacrebleu(data: Any, options: Any, segment_lists: Any, agrees: Any) -> None:
    agrees(scorer("ter", **options), TER(**options), TER(**options), data.draw(segment_lists))


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(FEW_WORDS, st.lists(FEW_WORDS, min_size=1, max_size=2)), min_size=1, max_size=5))
def test_shifts_agree_with_sacrebleu(agrees: Any, segments: Any) -> None:
    agrees(scorer("ter"), TER(), TER(), segments)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.tuples(st.one_of(LONG, FEW_WORDS), st.one_of(LONG, FEW_WORDS)))
def test_beam_and_limits_agree_with_sacrebleu(agrees: Any, pair: tuple[str, str]) -> None:
    agrees(scorer("ter"), TER(), TER(), [(pair[0], [pair[1]])])


def test_very_different_lengths_agree_with_sacrebleu(agrees: Any) -> None:
    long = " ".join(str(number) for number in range(130))
    agrees(scorer("ter"), TER(), TER(), [("7 100", [long]), (long, ["7 100"]), ("3", [long])])


SAMPLED = 1 if "BABELQUAKE_EVERY_SEGMENT" in os.environ else 25
"""sacreBLEU takes minutes over 10,000 segments: every twenty-fifth is judged unless all are asked for."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "step"), [(OPTIONS[0], SAMPLED), *((options, 100) for options in OPTIONS[1:])], ids=str
)
def test_real_segments_agree_with_sacrebleu(options: Any, step: int, real_segments: Any, agrees: Any) -> None:
    agrees(scorer("ter", **options), TER(**options), TER(**options), real_segments[::step])


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_signature_contains_sacrebleus(options: Any) -> None:
    metric = TER(**options)
    metric.corpus_score(["a"], [["a"]])
    assert f"TER|{metric.get_signature()}" in scorer("ter", **options).signature
