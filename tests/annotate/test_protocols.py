"""Annotators see at a glance which words two translations do not share (Huang 2023, Figure 4)."""

from hypothesis import given
from hypothesis import strategies as st

from babelquake.annotate.protocols import Piece, differing


def marked(pieces: list[Piece]) -> list[str]:
    return [text for text, stands_out in pieces if stands_out]


def test_changed_words_stand_out_on_both_sides() -> None:
    one, other = differing("The old house is very big .", "The new house is big .")
    assert marked(one) == ["old", "very"] and marked(other) == ["new"]


def test_neighbours_stand_out_together() -> None:
    one, _ = differing("He bought two red cars today", "He bought bikes today")
    assert marked(one) == ["two red cars"]


def test_characters_stand_out_where_there_are_no_spaces() -> None:
    assert tuple(map(marked, differing("私は猫が好き", "私は犬が好き"))) == (["猫"], ["犬"])


def test_equal_texts_have_nothing_to_show() -> None:
    assert tuple(map(marked, differing("Just the same .", "Just the same ."))) == ([], [])


@given(st.text(), st.text())
def test_nothing_of_a_text_is_lost(one: str, other: str) -> None:
    assert tuple("".join(text for text, _ in pieces) for pieces in differing(one, other)) == (one, other)
