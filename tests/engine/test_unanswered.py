"""What could not be had is told, and stands as nothing."""

from collections.abc import Sequence

import pytest

from babelquake.engine import Engine
from babelquake.engine.question_kinds import JUDGEMENT, TRANSLATION, Shortfalls
from babelquake.errors import UnansweredError
from babelquake.resource import Limits
from babelquake.scorers import Question, scorer
from babelquake.spec import Spec
from babelquake.systems.base import System


class Silent(System):
    """Says nothing to everything."""

    spec = Spec("silent")
    signature = "silent"
    limits = Limits()

    def translate(self, texts: Sequence[str]) -> list[str]:
        return ["" for _ in texts]


def test_a_system_that_returns_only_blank_lines_is_told() -> None:
    engine = Engine()
    engine.translate(Silent(), ["a", "b", " "])
    assert engine.notes == ["silent returned an empty translation for every text (2)."]


def test_texts_without_an_answer_are_counted_over_calls_and_the_first_is_named() -> None:
    seen = Shortfalls("keep")
    assert seen.stand_ins(Silent(), {"a\tb" + "c" * 99: "it broke", "d": "too long"}, 5, TRANSLATION).keys() >= {"d"}
    assert seen.stand_ins(Silent(), {"e": "later"}, 1, TRANSLATION) == {"e": ""}
    (note,) = seen.notes
    assert note.startswith("silent did not translate 3 texts") and note.endswith("c…” (it broke).")


def test_nothing_stands_for_a_score() -> None:
    with pytest.raises(UnansweredError, match="chrf gave no usable answer to 1 of 4 texts"):
        Shortfalls("keep").stand_ins(scorer("chrf"), {Question("a", ("b",)): "it broke"}, 4, JUDGEMENT)
