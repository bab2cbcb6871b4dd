"""What two runs say together: the verdict, why a gate closes, and limits that a run must keep."""

from dataclasses import replace
from typing import Any

import pytest

from babelquake.errors import UserError
from babelquake.report.comparison import comparison_table
from babelquake.studies.comparison import Answer, Change, Comparison, Requirement

ROBUST = Change(
    "de-en",
    "mine",
    "bleu",
    None,
    None,
    "overall_robust",
    72.1,
    94.6,
    "better",
    0.0001,
    0.0004,
    visible=3.1,
    paired=True,
)
QUALITY = replace(ROBUST, measure="quality", old=61.0, new=9.8, outcome="worse")
SAME = replace(ROBUST, measure="consis", perturbation="case", new=72.0, outcome="same", p=0.8, p_corrected=1.0)
SMALL = replace(SAME, perturbation="final-delete[mark=question]", outcome="cannot be tested", note="5 segments.")
GONE = replace(ROBUST, new=None, outcome="collapsed", p=None, p_corrected=None, note="The clean quality reaches zero.")


def compared(*changes: Change, answers: tuple[Answer, ...] = (), only_old: tuple[str, ...] = ()) -> Comparison:
    return Comparison(changes, 0.05, "max-t", answers, only_old)


def test_a_gain_is_called_better_with_its_figures() -> None:
    found = compared(ROBUST, SAME)
    assert found.failures == []
    said = " ".join(found.verdict)
    assert "is better" in found.verdict[0] and "72.10 to 94.60" in said and "+22.50" in said and "p < .001" in said


def test_quality_that_fell_comes_first_and_closes_the_gate() -> None:
    found = compared(ROBUST, QUALITY)
    assert len(found.failures) == 1 and "worse on clean text (−51.2 BLEU, p < .001)" in found.verdict[0]
    assert "quality" in found.verdict[1] and "61.00 to 9.80" in found.verdict[1]


def test_robustness_of_a_quality_that_fell_is_not_called_better() -> None:
    assert not any(sentence.startswith("Better") for sentence in compared(ROBUST, QUALITY).verdict)
    other = replace(QUALITY, scorer="chrf")
    assert any(sentence.startswith("Better") for sentence in compared(ROBUST, other).verdict)


def test_what_is_the_same_comes_with_the_difference_that_could_have_been_seen() -> None:
    assert any("3.10" in sentence for sentence in compared(SAME).verdict)
    alike = replace(SAME, visible=None, new=72.1)
    assert any("segment by segment" in sentence for sentence in compared(alike).verdict)
    few = replace(SAME, visible=None, new=72.6)
    assert any("Too few segments differ" in sentence for sentence in compared(few).verdict)


def test_quality_is_spoken_of_before_obedience_whatever_came_of_either() -> None:
    form = {"scorer": None, "perturbation": "canary[form=start]", "measure": "obeyed"}
    whole = replace(SAME, measure="overall_quality_perturbed", perturbation=None, old=80.2, new=79.1, visible=None)
    obeyed = replace(SAME, **form, old=0.0, new=5.0, visible=10.5)
    first, second, *_ = compared(obeyed, whole).verdict
    assert "overall quality" in first and "−1.1" in first and "10.5" not in first
    assert "obeyed" in second and "+5.0 percentage points" in second and "10.5" in second
    more = replace(obeyed, new=60.0, outcome="worse", p_corrected=0.0004)
    quality, obeys, *_ = compared(more, whole).findings
    assert (quality.what, obeys.what) == ("quality_same", "only_worse")
    alike = compared(replace(obeyed, new=0.0), replace(whole, new=80.2))
    assert [finding.what for finding in alike.findings] == ["no_difference", "same"] and not alike.findings[0].numbers


def test_a_table_marks_a_gain_that_is_only_relative_to_a_lower_quality() -> None:
    table = comparison_table(compared(ROBUST, QUALITY), "old", "new")
    assert [row[0] for row in table.rows] == ["WORSE", "(better)"] and "(better)" in table.note
    alone = comparison_table(compared(ROBUST), "old", "new")
    assert [row[0] for row in alone.rows] == ["better"] and "(better)" not in alone.note


def test_too_few_segments_are_named_and_do_not_close_the_gate() -> None:
    found = compared(SAME, SMALL)
    (few,) = [one for one in found.findings if one.what == "too_few_in_both"]
    assert found.failures == [] and few.numbers[0].perturbation == "final-delete[mark=question]"


def test_where_nothing_can_be_tested_the_gate_is_closed() -> None:
    found = compared(SMALL)
    assert [one.what for one in found.failures] == ["nothing_testable"] and "5 segments" in found.verdict[0]


def test_a_collapse_closes_the_gate_and_is_told_once_per_scorer() -> None:
    part = replace(GONE, measure="robust", perturbation="misspell", level=0.1)
    found = compared(SAME, part, GONE)
    assert [one.what for one in found.failures] == ["collapsed"]
    assert "72.10" in found.verdict[0] and "reaches zero" in found.verdict[0]


def test_requirements_close_the_gate_where_they_are_not_met() -> None:
    answers = (Answer("quality >= 50", False, "Not met: 9.80."), Answer("robust >= 5", True, "Met: 94.60."))
    found = compared(SAME, answers=answers)
    assert [one.what for one in found.failures] == ["requirement"]
    assert "Not met: 9.80." in found.verdict[0] and found.verdict[-1] == "Met: 94.60."


def test_what_the_new_run_lacks_is_named() -> None:
    assert "misspell" in compared(SAME, only_old=("misspell",)).verdict[-1]


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
