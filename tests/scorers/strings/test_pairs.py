"""Equal texts and equal reference sets are kept once."""

from babelquake.scorers.base import Questions
from babelquake.scorers.strings.pairs import Pairs


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
