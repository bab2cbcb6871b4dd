"""Cuts fall where mteval-v13a and chrF++ put them."""

import sys
from collections.abc import Hashable, Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import CHRF

from babelquake.scorers.strings.symbols import Cuts, code_points, words
from babelquake.scorers.strings.tokenise import FIRST_UNSPACED
from babelquake.scorers.strings.word_boundaries import one_mark, western
from babelquake.text import UNSPACED

SPACED = st.text(st.sampled_from(list("aé1.,'()~。\t\n\x1f \x85\xa0\u2028\u3000\ud800")), max_size=30)


def first_seen(rows: Sequence[Sequence[Hashable]]) -> list[list[int]]:
    """Rows with each item replaced by its rank of first appearance."""
    rank: dict[Hashable, int] = {}
    return [[rank.setdefault(item, len(rank)) for item in row] for row in rows]


@pytest.mark.parametrize(
    ("cuts", "text", "parts"),
    [
        (western, "a..5 1.5, x.y", "a . .5 1.5 , x . y"),
        (western, "1990-2000 e-mail don't", "1990 - 2000 e-mail don't"),
        (western, "(3,5%)", "( 3,5 % )"),
        (one_mark, "(hi) (hi . it's", "(hi ) ( hi . it's"),
    ],
)
def test_cuts_of_a_line_read_by_eye(cuts: Cuts, text: str, parts: str) -> None:
    assert words(code_points([text, parts]), cuts).rows()[0] == first_seen([parts.split()])[0]


@settings(max_examples=150, deadline=None)
@given(texts=st.lists(st.one_of(SPACED, st.text(max_size=20)), max_size=5))
@example(texts=["(hi) (hi, ''", ".", "...", "«a»."])
def test_words_and_marks_are_those_of_sacrebleus_chrf(texts: list[str]) -> None:
    theirs = [CHRF(word_order=2)._remove_punctuation(text) for text in texts]
    assert words(code_points(texts), one_mark).rows() == first_seen(theirs)


def test_no_script_without_spaces_lies_before_the_first() -> None:
    assert not UNSPACED.search("".join(map(chr, range(FIRST_UNSPACED))))
    assert UNSPACED.search("".join(map(chr, range(FIRST_UNSPACED, sys.maxunicode))))
