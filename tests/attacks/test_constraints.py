"""Every constraint on the toy models, its limit on either side."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelquake.attacks.constraints import (
    Constraint,
    Levenshtein,
    PerplexityRise,
    SelfSimilarity,
    Similarity,
    WordShare,
    constraint,
    edit_distance,
    word_distance,
)
from babelquake.attacks.sentence import Sentence
from babelquake.errors import UserError

ORIGINAL = Sentence.of("the cat sat")


def values(toys: Any, limit: Constraint, *texts: str) -> list[float]:
    found: list[float] = toys.driven(limit.measured(ORIGINAL, [Sentence.of(text) for text in texts]))
    return found


def test_perplexity_may_rise_by_less_than_ten(toys: Any) -> None:
    assert values(toys, PerplexityRise(), "the cat sat", "the cats sat", "the cats sat on") == [0.0, 4.0, 16.0]
    assert PerplexityRise().allows(9.99) and not PerplexityRise().allows(10.0)
    assert not PerplexityRise().allows(float("nan"))


def test_levenshtein_counts_characters(toys: Any) -> None:
    assert values(toys, Levenshtein(30), "the cat sat", "the bat sat", "cat sat") == [0.0, 1.0, 4.0]
    assert Levenshtein(30).allows(30) and not Levenshtein(30).allows(31)


def test_the_share_of_words_counts_insertions_and_deletions(toys: Any) -> None:
    assert values(toys, WordShare(), "the dog sat", "the old cat sat", "cat sat") == pytest.approx([1 / 3] * 3)
    assert WordShare(0.2).allows(0.2) and not WordShare(0.2).allows(0.21)


def test_similarity_is_a_cosine(toys: Any) -> None:
    assert values(toys, Similarity(), "the cat sat", "the cat") == pytest.approx([1.0, 2 / 3])
    assert Similarity(0.7).allows(0.7) and not Similarity(0.7).allows(0.69)


def test_the_victim_as_similarity_in_standard_deviations(toys: Any) -> None:
    (plain,) = values(toys, SelfSimilarity(scale=2.0), "the cat")
    assert plain == pytest.approx((5.05 + 0.003 - (3.05 + 0.002)) / 2)
    (symmetric,) = values(toys, SelfSimilarity(scale=2.0, symmetric=True), "the cat")
    assert symmetric == pytest.approx((5.053 - (3.052 + 5.052) / 2) / 2)
    (down,) = values(toys, SelfSimilarity(scale=-2.0), "the cat")
    assert down == pytest.approx(-plain)
    assert SelfSimilarity().allows(0.29) and not SelfSimilarity().allows(0.3)


def test_constraints_have_names_and_options() -> None:
    assert constraint("levenshtein[most=5]") == Levenshtein(5)
    assert constraint("perplexity").signature == "perplexity[rise=10.0]"
    with pytest.raises(UserError, match="Did you mean 'perplexity'"):
        constraint("perplexit")


def test_a_detector_must_find_something_new_wrong(toys: Any) -> None:
    """A lost number is a failure that the original has not; a lost article is none."""
    limit = constraint("failures").of_segment("Er zahlte 25 Euro.", None, "de-en")
    original = Sentence.of("He paid the 25 euros.")
    texts = ["He paid 25 euros.", "He paid the 52 euros.", "He paid the 25 euros."]
    found = toys.driven(limit.measured(original, [Sentence.of(text) for text in texts]))
    assert found == [0.0, 1.0, 0.0]
    assert [limit.allows(value) for value in found] == [False, True, False]
    back = toys.driven(limit.measured(Sentence.of(texts[1]), [original]))
    assert back == [-1.0] and not constraint("failures[new=0]").allows(-1.0)
    assert limit.signature == "failures[kind=any,new=1]"


def test_a_kind_of_failure_is_known_and_can_be_seen(toys: Any) -> None:
    with pytest.raises(UserError, match="number"):
        constraint("failures[kind=nummer]")
    limit = constraint("failures[kind=negation]").of_segment("Nein.", None, None)
    with pytest.raises(UserError, match=r"failures\[kind=negation\]|constraints"):
        toys.driven(limit.measured(ORIGINAL, [ORIGINAL]))


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
