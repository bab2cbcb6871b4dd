"""Texts become numbers without mixing anything up."""

import sys

from hypothesis import given
from hypothesis import strategies as st

from babelquake.scorers.strings.symbols import characters, code_points, words
from babelquake.scorers.strings.word_boundaries import nowhere

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
