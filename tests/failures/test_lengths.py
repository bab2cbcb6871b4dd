"""Far too long or far too short for the language pair."""

from tests.failures.conftest import Kinds

from babelquake.failures.lengths import usual_ratio
from babelquake.languages import Language

SOURCE = "The committee met in the morning and discussed the proposals of the government."


def test_half_a_sentence_is_truncated_and_a_lecture_runs_away(kinds: Kinds) -> None:
    assert "truncated" in kinds(SOURCE, "Výbor se sešel")
    assert "runaway" in kinds(SOURCE, "Výbor se sešel ráno a projednával návrhy vlády, " + "což je dlouhý příběh, " * 9)


def test_chinese_is_short_and_german_is_long(kinds: Kinds) -> None:
    assert kinds(SOURCE, "委员会早上开会讨论了政府的提案。", "en-zh") == set()
    ratio = usual_ratio(Language("zh"), Language("de"))
    assert ratio is not None and 3 < ratio < 4
    assert usual_ratio(Language("xh"), Language("en")) is None


def test_padding_of_the_source_may_go(kinds: Kinds) -> None:
    assert "truncated" not in kinds("Wow!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!", "Páni!")
