"""Edit distance, of characters and of words."""

from hypothesis import given
from hypothesis import strategies as st

from babelquake.attacks.constraints import edit_distance, word_distance


@given(st.text("ab ", max_size=8), st.text("ab ", max_size=8))
def test_edit_distance_is_the_textbook_recursion(one: str, other: str) -> None:
    def distance(a: str, b: str) -> int:
        if not a or not b:
            return len(a) + len(b)
        same = distance(a[1:], b[1:]) + (a[0] != b[0])
        return same if a[0] == b[0] else min(same, distance(a[1:], b) + 1, distance(a, b[1:]) + 1)

    assert edit_distance(one, other) == distance(one, other)


@given(st.text("ab", min_size=30, max_size=90), st.text("ab", min_size=30, max_size=90))
def test_distances_beyond_the_first_band_are_those_of_the_whole_matrix(one: str, other: str) -> None:
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        above, row = row, [i]
        for j, b in enumerate(other, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (a != b)))
    assert edit_distance(one, other) == row[-1]
    assert edit_distance(f"{one} {other * 9}", f"{other} {other * 9}") <= row[-1]


def test_a_very_long_line_with_few_changes_takes_no_time() -> None:
    text = "abcdefghij" * 40_000
    assert edit_distance(f"x{text}y", f"z{text[:99]}{text[100:]}") == 3


def test_word_distance_counts_changes_insertions_and_deletions() -> None:
    assert word_distance("a b c d", "a x c d") == 1
    assert word_distance("a b c d", "a b new c d") == 1
    assert word_distance("a b c d", "b c") == 2
    assert word_distance("a b, c.", "a b c") == 0
