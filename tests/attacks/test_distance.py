"""Edit distance, of characters and of words."""

from hypothesis import given
from hypothesis import strategies as st

from babelquake.attacks.distance import edit_distance, word_distance


@given(st.text("ab ", max_size=8), st.text("ab ", max_size=8))
def test_edit_distance_is_the_textbook_recursion(one: str, other: str) -> None:
    def distance(a: str, b: str) -> int:
        if not a or not b:
            return len(a) + len(b)
        same = distance(a[1:], b[1:]) + (a[0] != b[0])
        return same if a[0] == b[0] else min(same, distance(a[1:], b) + 1, distance(a, b[1:]) + 1)

    assert edit_distance(one, other) == distance(one, other)


def test_word_distance_counts_changes_insertions_and_deletions() -> None:
    assert word_distance("a b c d", "a x c d") == 1
    assert word_distance("a b c d", "a b new c d") == 1
    assert word_distance("a b c d", "b c") == 2
    assert word_distance("a b, c.", "a b c") == 0
