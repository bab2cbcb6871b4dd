"""Shared n-grams are what counting them one by one gives; words are cut where mteval-v13a and chrF++ cut them."""

import sys
from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import CHRF

from babelquake.scorers.base import Questions
from babelquake.scorers.strings.bleu import FIRST_UNSPACED
from babelquake.scorers.strings.kernels import one_mark, shared, totals, western
from babelquake.scorers.strings.symbols import Cuts, Pairs, code_points, words
from babelquake.text import UNSPACED

TEXT = st.text("ab猫", max_size=12)
ORDER = 4


def _count(text: str, n: int) -> Counter[str]:
    return Counter(text[start : start + n] for start in range(len(text) - n + 1))


@settings(deadline=None)
@given(st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), max_size=6))
def test_shared_n_grams_are_counted_as_often_as_any_reference_has_them(segments: list[tuple[str, list[str]]]) -> None:
    pairs = Pairs.of(Questions([pair[0] for pair in segments], [pair[1] for pair in segments]))
    symbols = code_points(pairs.texts)
    found = shared(symbols, pairs.translation, pairs.reference_set, pairs.set_starts, pairs.members, ORDER)
    for row, (text, references) in zip(found, segments, strict=True):
        for n in range(1, ORDER + 1):
            most: Counter[str] = Counter()
            for reference in references:
                most |= _count(reference, n)
            assert row[n - 1] == (_count(text, n) & most).total()


def test_a_text_of_three_symbols_has_three_two_one_and_no_n_grams() -> None:
    assert totals(np.array([3, 0]), ORDER).tolist() == [[3, 2, 1, 0], [0, 0, 0, 0]]


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
