"""Texts become numbers without mixing anything up; equal texts and equal reference sets are kept once."""

import sys

from hypothesis import given
from hypothesis import strategies as st

from babelquake.scorers.base import Questions
from babelquake.scorers.strings.kernels import nowhere
from babelquake.scorers.strings.symbols import Pairs, characters, code_points, words

TEXTS = st.lists(
    st.one_of(st.text(st.sampled_from("ab \t\u00a0\u3000\u2028猫\ud800"), max_size=30), st.text()), max_size=6
)


@given(TEXTS)
def test_characters_are_code_points_without_white_space(texts: list[str]) -> None:
    points = code_points(texts)
    assert characters(points, whitespace=True).rows() == [list(map(ord, text)) for text in texts]
    assert characters(points, whitespace=False).rows() == [list(map(ord, "".join(text.split()))) for text in texts]


@given(TEXTS)
def test_words_are_what_split_finds(texts: list[str]) -> None:
    number: dict[str, int] = {}
    expected = [[number.setdefault(word, len(number)) for word in text.split()] for text in texts]
    assert words(code_points(texts), nowhere).rows() == expected


def test_no_white_space_lies_beyond_the_ideographic_space() -> None:
    assert max(point for point in range(sys.maxunicode + 1) if chr(point).isspace()) == 0x3000


def test_one_reference_judged_against_many_variants_is_kept_once() -> None:
    pairs = Pairs.of(Questions(["a", "b", "a"], [["r"], ["r"], ["r"]]))
    assert pairs.texts == ["a", "b", "r"]
    assert pairs.reference_set.tolist() == [0, 0, 0]
    assert pairs.members.tolist() == [2]


def test_every_pair_is_listed_segment_by_segment() -> None:
    pairs = Pairs.of(Questions(["a", "b"], [["r", "s"], ["a"]]))
    translation, reference, starts = pairs.flat()
    assert [pairs.texts[number] for number in translation] == ["a", "a", "b"]
    assert [pairs.texts[number] for number in reference] == ["r", "s", "a"]
    assert starts.tolist() == [0, 2, 3]
