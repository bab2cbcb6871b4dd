"""No finding claims what its cells do not carry: untested, too small, clean quality near a baseline."""

import re
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from babelquake.report.verdict import in_words, score
from babelquake.runs.findings import Finding, Number, in_order
from babelquake.runs.info import Facts, Flag, RunInfo
from babelquake.runs.measures import Kind, Measure, measures_frame
from babelquake.runs.run import Run
from babelquake.studies.card import STUDIES

LEAST = 20
"""Changed segments below which a cell is too small."""
NAMES = ("old", "new", "other")
NOISE = (("misspell", 0.1), ("case[to=upper]", 1.0), ("final-delete[mark=question]", None), ("raw", None))
HARMFUL = (("negation-remove", None), ("word-drop", 1.0))
values = st.floats(0, 100, allow_nan=False).map(lambda value: round(value, 3))
signed = st.floats(-60, 20, allow_nan=False).map(lambda value: round(value, 3))


def stored(study: str, measures: Iterable[Measure], **facts: Any) -> Run:
    """What findings are made of, without a folder."""
    info = RunInfo(study=study, config={"goal": "overpenalise"}, facts=Facts(**facts))
    return cast(Run, SimpleNamespace(info=info, measures=measures_frame(measures)))


def found(study: str, measures: Iterable[Measure], **facts: Any) -> list[Finding]:
    return in_order(STUDIES.get(study).findings(stored(study, measures, **facts)))


@st.composite
def outcomes(draw: st.DrawFn) -> dict[str, Any]:
    """The outcome of a test: significant, not significant, or impossible."""
    testable = draw(st.booleans())
    p = draw(st.sampled_from([0.0, 0.0004, 0.003, 0.049, 0.051, 0.107, 1.0]))
    return {"testable": testable, "p": p, "p_corrected": p if testable else None}


@st.composite
def mt_measures(draw: st.DrawFn) -> list[Measure]:
    systems = NAMES[: draw(st.integers(1, 3))]
    rows = [Measure(Kind(f"baseline_{name}"), draw(values), 50, scorer="chrf") for name in ("copy", "constant")]
    cells = NOISE[: draw(st.integers(1, 4))]
    for system in systems:
        here: dict[str, Any] = {"scorer": "chrf", "system": system}
        rows.append(Measure(Kind("baseline_system"), draw(values), draw(st.sampled_from([19, 20, 50])), **here))
        for perturbation, level in cells:
            n = draw(st.integers(5, 60))
            place = {**here, "perturbation": perturbation, "level": level, "n": n, "changed": draw(st.integers(0, n))}
            rows.append(Measure(Kind("delta"), draw(signed), **place, **draw(outcomes())))
            rows.append(Measure(Kind("robust"), draw(values), **place))
            rows.append(Measure(Kind("consis"), draw(values), **place))
            rows.append(Measure(Kind("inconsistent"), draw(values), **place))
        if draw(st.booleans()) or len(systems) > 1:
            rows += [
                Measure(Kind(f"overall_{name}"), draw(values), 50, **here)
                for name in ("quality", "quality_perturbed", "robust", "consis")
            ]
    for one, other in [(one, other) for one in systems for other in systems if one < other]:
        both: dict[str, Any] = {"scorer": "chrf", "system": one, "other": other, "n": 50}
        for name in ("overall_quality_perturbed", "overall_consis"):
            rows.append(Measure(Kind(f"{name}_difference"), draw(signed), **both, **draw(outcomes())))
        for perturbation, level in cells:
            place = {**both, "perturbation": perturbation, "level": level}
            rows.append(Measure(Kind("robust_difference"), draw(signed), **place, **draw(outcomes())))
    return rows


SHARES = ("harmless_costs_more", "rewards_harmful")
"""Per cent of texts or comparisons."""


@st.composite
def scorer_measures(draw: st.DrawFn, *names: str, perturbed: bool = False) -> list[Measure]:
    """Measures of scorers, and the differences between every two."""
    scorers, rows = NAMES[: draw(st.integers(1, 3))], []
    places = (*NOISE[:3], *HARMFUL) if perturbed else ((None, None),)
    for scorer in scorers:
        for name in names:
            for perturbation, level in places:
                here: dict[str, Any] = {"scorer": scorer, "perturbation": perturbation, "level": level, "n": 30}
                rows.append(Measure(Kind(name), draw(values if name in SHARES else signed), **here, **draw(outcomes())))
    for one, other in [(one, other) for one in scorers for other in scorers if one < other]:
        rows += [
            Measure(Kind(f"{name}_difference"), draw(signed), 30, scorer=one, other=other, **draw(outcomes()))
            for name in names
        ]
    return rows


def carried(findings: Iterable[Finding], measures: Iterable[Measure]) -> None:
    """Every number of every finding is one that the run measured, with the outcome of its own test."""
    there = {Number.of(row) for row in measures_frame(measures).to_dicts()}
    for finding in findings:
        assert {*finding.numbers, *([finding.test] if finding.test else [])} <= there


def honest(findings: list[Finding]) -> None:
    """No sentence speaks of significance that its test does not have, or hides that there was none."""
    for finding, sentence in zip(findings, in_words(findings), strict=True):
        claimed = (
            re.search(r"(?<!not )(?<!not differ )significant(?!ly in 0)", sentence.text)
            and "No significant" not in sentence.text
        )
        proved = [one for one in (finding.test, *finding.numbers) if one is not None and one.significant]
        assert not claimed or proved or "does not move significantly" in sentence.text, sentence
        if finding.test is not None and finding.outcome == "cannot be tested":
            assert "cannot be tested" in sentence.text, sentence
            assert not re.search(r"difference [^;(]*is (not )?significant|best", sentence.text), sentence
        assert "0.000" not in re.findall(r"p = [\d.]+", sentence.text)


@settings(max_examples=40)
@given(mt_measures())
def test_mt_says_nothing_of_systems_near_a_baseline_and_of_cells_too_small(measures: list[Measure]) -> None:
    findings = found("mt", measures)
    carried(findings, measures)
    honest(findings)
    baselines = [row.value or 0.0 for row in measures if row.kind.name in ("baseline_copy", "baseline_constant")]
    useless = {
        row.system
        for row in measures
        if row.kind.name == "baseline_system"
        and row.n >= 20
        and any(base < 95 and (row.value or 0) <= base + 0.05 * (100 - base) for base in baselines)
    }
    assert {finding.who for finding in findings if finding.what == "near_baseline"} == useless
    assert [finding.weight for finding in findings][: len(useless)] == ["alarm"] * len(useless)
    for finding, sentence in zip(findings, in_words(findings), strict=True):
        if finding.what == "near_baseline":
            continue
        assert not useless & {one.system for one in finding.numbers}
        if finding.what in ("loss", "no_significant_loss"):
            deltas = finding.of("delta")
            assert all(one.tested and (one.changed or 0) >= LEAST for one in deltas)
            lost = any(one.significant and one.known < 0 for one in deltas)
            assert lost == (finding.what == "loss")
        if finding.what == "best_under_noise":
            first, *others = finding.of("overall_quality_perturbed")
            assert all(first.known >= other.known for other in others)
            assert sentence.text.startswith("Best") == (finding.outcome == "significant")
            assert score(first.known) in sentence.text


@settings(max_examples=40)
@given(scorer_measures("delta", *SHARES, perturbed=True))
def test_metric_calls_nothing_unmoved_that_was_not_tested(measures: list[Measure]) -> None:
    meaning = {name: "altering" for name, _ in HARMFUL} | {name: "preserving" for name, _ in NOISE}
    findings = found("metric", measures, meaning=meaning)
    carried(findings, measures)
    honest(findings)
    for finding, sentence in zip(findings, in_words(findings), strict=True):
        if finding.what == "harmless_moves":
            assert all(meaning[str(one.perturbation)] == "preserving" for one in finding.numbers)
            untested = sum(not one.tested for one in finding.numbers)
            assert not untested or (f"{untested}" in sentence.text and "cannot be tested" in sentence.text)
            assert ("does not move" in sentence.text) <= any(one.tested for one in finding.numbers)
        if finding.what in SHARES:
            assert finding.numbers[0].known > 5, "one text in thirty may be anybody's mistake"


@settings(max_examples=40)
@given(scorer_measures("discrimination", "discrimination_standardised", "rank_agreement"))
def test_qe_names_a_best_model_only_where_it_is_significantly_better(measures: list[Measure]) -> None:
    findings = found("qe", measures, flags=[Flag(scorer="old", text="does not see: negation removed")])
    carried(findings, measures)
    honest(findings)
    for finding, sentence in zip(findings, in_words(findings), strict=True):
        if finding.what == "discriminates_best":
            assert ("changes best" in sentence.text) == (finding.outcome == "significant")
        if finding.what == "ranks_agree":
            assert ("not shown to agree" in sentence.text) == (finding.outcome != "significant")


@settings(max_examples=40)
@given(scorer_measures("pearson"))
def test_correlate_names_a_leader_and_all_that_are_significantly_behind(measures: list[Measure]) -> None:
    findings = found("correlate", measures)
    carried(findings, measures)
    honest(findings)
    known = {row.scorer: row.value or 0.0 for row in measures if row.kind.name == "pearson"}
    leader = findings[0]
    assert known[leader.who] == max(known.values())
    behind = {
        next(iter({row.scorer, row.other} - {leader.who}))
        for row in measures
        if row.kind.name == "pearson_difference" and leader.who in (row.scorer, row.other)
        if row.testable and (row.p_corrected or 0.0) < 0.05
    }
    if leader.what == "agrees_none":
        low = leader.numbers[0].low
        assert len(findings) == 1 and (leader.numbers[0].known <= 0 or (low is not None and low <= 0))
        return
    assert known[leader.who] > 0
    if leader.what == "agree_alike":
        assert len(findings) == 1 and len({one.value for one in leader.numbers}) == 1
        return
    spoken = {finding.who for finding in findings if finding.what == "agrees_less"}
    second = leader.numbers[1].scorer if len(leader.numbers) > 1 else None
    assert spoken == behind - {second}


@settings(max_examples=40)
@given(scorer_measures("success", "transfer", perturbed=True))
def test_attack_counts_what_was_measured(measures: list[Measure]) -> None:
    findings = found("attack", measures)
    carried(findings, measures)
    honest(findings)
    assert {finding.what for finding in findings} <= {"fooled", "withstood", "transfer"}
