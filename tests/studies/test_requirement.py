"""Limits that a run must keep."""

from typing import Any

import pytest

from babelquake.errors import UserError
from babelquake.studies.requirement import Requirement


def row(measure: str, value: float | None, **of: Any) -> dict[str, Any]:
    blank = dict.fromkeys(("language_pair", "system", "scorer", "perturbation", "level", "group", "other", "note"))
    spread = {"low": None, "high": None} if value is None else {"low": value - 2, "high": value + 2}
    return {**blank, "measure": measure, "value": value, **spread, **of}


ROWS = [
    row("quality", 56.0, scorer="chrf", system="a"),
    row("quality", 30.0, scorer="bleu[lowercase=true]", system="a"),
    row("quality", 12.0, scorer="chrf", system="a", perturbation="final-delete[mark=stop]"),
    row("robust", 70.0, scorer="chrf", system="a", perturbation="misspell"),
    row("overall_robust", 86.0, scorer="chrf", system="a"),
    row("overall_robust", None, scorer="bleu[lowercase=true]", system="a", note="The clean quality reaches zero."),
    row("overall_robust_difference", -9.0, scorer="chrf", system="a", other="b"),
    row("failures", 0.4, system="a", group="off-target"),
    row("failures", 3.0, system="a", group="copied"),
]


def met(text: str, confident: bool = False) -> list[bool]:
    return [answer.met for answer in Requirement.parse(text).check(ROWS, confident)]


def test_quality_without_a_perturbation_is_that_of_clean_translations() -> None:
    assert met("quality[chrf] >= 50") == [True]
    assert met("quality >= 50") == [True, False]
    assert met("quality[bleu]>=30") == [True] and met("quality[bleu] > 30") == [False]


def test_robust_without_a_perturbation_is_the_overall_one() -> None:
    assert met("robust[chrf] >= 85") == [True]
    assert met("robust[chrf,misspell] >= 85") == [False]


def test_what_is_undefined_does_not_meet_a_limit() -> None:
    answers = Requirement.parse("robust >= 85").check(ROWS)
    assert [answer.met for answer in answers] == [True, False] and "reaches zero" in answers[1].text


def test_kinds_of_failure_are_named_in_brackets() -> None:
    assert met("failures[off-target] <= 0.5") == [True]
    assert met("failures[copied] <= 0.5") == [False]


def test_confident_looks_at_the_end_of_the_interval_that_is_nearer_to_the_limit() -> None:
    assert met("quality[chrf] >= 55") == [True] and met("quality[chrf] >= 55", confident=True) == [False]
    assert met("quality[chrf] >= 54", confident=True) == [True]
    assert met("failures[off-target] <= 0.5", confident=True) == [False]


@pytest.mark.parametrize(
    "wrong", ["", "quality", "quality = 50", "quality >= much", "[chrf] >= 50", "quality[chrf >= 5"]
)
def test_what_is_no_limit_is_refused_with_an_example(wrong: str) -> None:
    with pytest.raises(UserError, match=r"require.*quality\[chrf\] >= 50"):
        Requirement.parse(wrong)


def test_a_measure_that_the_run_does_not_have_is_refused_with_a_hint() -> None:
    with pytest.raises(UserError, match="robust"):
        Requirement.parse("robsut >= 85").check(ROWS)
    with pytest.raises(UserError, match=r"quality of comet.* chrf"):
        Requirement.parse("quality[comet] >= 85").check(ROWS)
    with pytest.raises(UserError, match=r"robust of mispell.* 'misspell'"):
        Requirement.parse("robust[chrf,mispell] >= 85").check(ROWS)
