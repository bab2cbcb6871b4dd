"""Is the new run worse? Runs of systems and scorers that are, and of ones that are not; languages written differently.

What a repetition says: the numbers that differ, and what else is different.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import babelquake as bq
from babelquake.data import Dataset
from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.report.comparison import comparison_markdown, comparison_table
from babelquake.runs.measures import Kind, Measure, measures_frame
from babelquake.runs.run import Run
from babelquake.spec import Spec
from babelquake.stats.pvalues import p_value
from babelquake.stats.testing import Test, normal_test
from babelquake.studies.attack.study import attack
from babelquake.studies.cells import Place
from babelquake.studies.compare import Compared, compare, differences, judge
from babelquake.studies.comparison import RELATIVE
from babelquake.studies.correlate.study import correlate
from babelquake.studies.metric.study import metric
from babelquake.studies.mt.study import mt
from babelquake.studies.qe.study import qe
from babelquake.systems.base import System

from .conftest import Write

SENTENCE = "the train to Hamburg is late again today because of heavy snow and a broken signal near the river"
WORDS = SENTENCE.split()


class Copyist(System):
    """Copies its source; a sturdy one does not care about letter case."""

    def __init__(self, sturdy: bool, name: str = "copyist") -> None:
        self.spec = Spec(name)
        self.sturdy = sturdy

    @property
    def signature(self) -> str:
        return f"copyist|sturdy:{self.sturdy}"

    def translate(self, texts: Sequence[str]) -> list[str]:
        return [text.lower() if self.sturdy else text for text in texts]


@pytest.fixture
def data(write: Write) -> Dataset:
    texts = [" ".join(WORDS[start : start + 8]) for start in range(10)] * 3
    return write("source reference", [(f"{text} {row}", f"{text} {row}") for row, text in enumerate(texts)])


def translated(data: Dataset, out: Path, sturdy: bool, name: str = "copyist", **options: int) -> Run:
    system = Copyist(sturdy, name)
    return mt(
        systems=[system],
        data=data,
        suite="case[level=1]",
        scorers=["chrf"],
        out=out,
        resamples=200,
        engine=Engine(quiet=True),
        **options,
    )


def test_a_run_is_no_worse_than_itself(data: Dataset, tmp_path: Path) -> None:
    run = translated(data, tmp_path / "one", sturdy=False)
    changes = compare(run, run)
    pooled = {"overall_quality_perturbed", "overall_robust", "overall_consis", "overall_hurt"}
    assert {change.measure for change in changes} == {"quality", "quality_perturbed", "robust", "consis", *pooled}
    assert [change.perturbation for change in changes if change.measure == "quality"] == [None]
    assert {change.p for change in changes} == {1.0}
    assert all(change.paired and change.difference == 0 and not change.regression for change in changes)


@pytest.mark.slow
def test_a_system_that_minds_letter_case_is_a_regression(data: Dataset, tmp_path: Path) -> None:
    old, new = (translated(data, tmp_path / str(sturdy), sturdy) for sturdy in (True, False))
    changes = compare(old, new)
    relative = [change for change in changes if "quality" not in change.measure]
    assert all(change.paired and change.regression and change.p_corrected < 0.05 for change in relative)
    assert not any(change.regression for change in compare(new, old) if "quality" not in change.measure)
    largest = max(-change.difference for change in changes)
    assert not any(change.regression for change in compare(old, new, min_drop=largest + 1))
    assert " is worse under noise overall (" in comparison_markdown(changes, "old", "new")


@pytest.mark.slow
def test_the_only_system_of_each_run_may_have_another_name(data: Dataset, tmp_path: Path) -> None:
    old, new = (translated(data, tmp_path / name, name == "a", name) for name in "ab")
    assert {change.system for change in compare(old, new)} == {"b"}


@pytest.mark.slow
def test_scores_of_a_function_without_a_name_are_compared_by_what_is_stored(data: Dataset, tmp_path: Path) -> None:
    scorers = ["chrf", lambda translations: [float(len(text)) for text in translations]]
    old, new = (
        mt(systems=Copyist(sturdy), data=data, suite="case[level=1]", scorers=scorers, out=tmp_path / name)
        for name, sturdy in (("old", True), ("new", False))
    )
    paired = {str(change.scorer)[:6]: change.paired for change in compare(old, new)}
    assert paired.pop("lambda") is False and all(paired.values())


def test_runs_of_other_data_are_compared_without_pairs(write: Write, data: Dataset, tmp_path: Path) -> None:
    other = write("source reference", [(f"{word} snow", f"{word} snow") for word in WORDS], "other.de-en.tsv")
    changes = compare(translated(data, tmp_path / "one", True), translated(other, tmp_path / "two", False))
    assert changes and not any(change.paired for change in changes) and any(change.regression for change in changes)


def test_runs_without_a_measure_that_may_fall_are_refused(tmp_path: Path) -> None:
    ratings = Run.resume(tmp_path / "ratings", "human", {})
    with pytest.raises(UserError, match="human runs are not compared"):
        compare(ratings, ratings)


def test_another_study_is_refused(data: Dataset, tmp_path: Path) -> None:
    one = translated(data, tmp_path / "one", True)
    two = metric(
        scorers=["chrf"],
        data=data,
        suite="case",
        out=tmp_path / "two",
        side="source",
        resamples=100,
        engine=Engine(quiet=True),
    )
    with pytest.raises(UserError, match=r"is a mt run, .* a metric run: compare like with like"):
        compare(one, two)
    three = metric(
        scorers=["bleu"],
        data=data,
        suite="misspell",
        out=tmp_path / "three",
        side="source",
        resamples=100,
        engine=Engine(quiet=True),
    )
    with pytest.raises(UserError, match="have no measure in common"):
        compare(two, three)


def judged(data: Dataset, out: Path, name: str, higher: bool = True, loss: float = 0.0) -> Run:
    """A metric run by scores that lose `loss` to a full stop."""
    texts = data.segments["source"].to_list()
    file = out.parent / f"{name}-{out.name}.tsv"
    sign = 1 if higher else -1
    lines = [f"{text}\t{0.5 + sign * 0.001 * (row % 7)}" for row, text in enumerate(texts)]
    lines += [f"{text}.\t{0.5 + sign * (0.001 * (row % 7) - loss)}" for row, text in enumerate(texts)]
    file.write_text("translation\tscore\n" + "\n".join(lines) + "\n", "utf-8")
    scores = f"scores[file={file},name={name},higher={str(higher).lower()}]"
    return metric(
        scorers=[scores],
        data=data,
        suite="final-insert[mark=stop]",
        out=out,
        side="source",
        resamples=200,
        engine=Engine(quiet=True),
    )


@pytest.mark.parametrize("higher", [True, False])
def test_a_metric_that_minds_a_full_stop_more_is_a_regression(data: Dataset, tmp_path: Path, higher: bool) -> None:
    calm, touchy = (judged(data, tmp_path / str(loss), "Mine", higher, loss) for loss in (0.01, 0.2))
    (change,) = compare(calm, touchy)
    assert change.measure == "delta" and change.regression
    assert change.old == pytest.approx(-0.01)
    assert change.paired
    assert not compare(touchy, calm)[0].regression
    assert not compare(calm, touchy, min_drop=0.3)[0].regression


def test_harmful_changes_are_meant_to_cost(data: Dataset, tmp_path: Path) -> None:
    changes = "final-insert[mark=stop|random]"
    run = metric(
        scorers=["chrf"],
        data=data,
        suite=changes,
        out=tmp_path / "run",
        side="source",
        resamples=100,
        engine=Engine(quiet=True),
    )
    assert [change.perturbation for change in compare(run, run)] == ["final-insert[mark=stop]"]


def test_a_qe_model_that_no_longer_sees_omissions_is_a_regression(write: Write, tmp_path: Path) -> None:
    data = write("source translation", [(f"q{row}", " ".join(WORDS[row : row + 6])) for row in range(12)] * 1)
    changes = "lower-words[level=1],word-drop"
    first = qe(
        scorers=["chrf"],
        data=data,
        suite=changes,
        out=tmp_path / "first",
        replicates=1,
        resamples=100,
        engine=Engine(quiet=True),
    )
    variants = pl.concat(
        [
            first.variants.select("row", "perturbation", "text"),
            first.segments.select("row", pl.lit(None, pl.String).alias("perturbation"), "text"),
        ]
    ).join(first.segments.select("row", "source"), on="row")
    runs = []
    for name, seen in (("sees", 0.5), ("blind", 0.0)):
        lines = [
            f"{source}\t{text}\t{0.8 + 0.01 * row - (seen if probe == 'word-drop' else 0)}"
            for row, probe, text, source in variants.iter_rows()
        ]
        file = tmp_path / f"{name}.tsv"
        file.write_text("source\ttranslation\tscore\n" + "\n".join(lines) + "\n", "utf-8")
        scores = f"scores[file={file},name=Mine]"
        runs.append(
            qe(
                scorers=[scores],
                data=data,
                suite=changes,
                out=tmp_path / name,
                replicates=1,
                resamples=100,
                engine=Engine(quiet=True),
            )
        )
    (change,) = compare(*runs)
    assert change.measure == "discrimination" and change.regression and change.old == pytest.approx(0.5, abs=0.01)


def test_more_sentences_that_fall_to_an_attack_are_a_regression(write: Write, tmp_path: Path) -> None:
    """Success is better down: a rise is what the gate must stop."""
    columns = "source translation reference"
    rows = [(f"q{row}", f"{SENTENCE} {row}", f"{SENTENCE} {row}") for row in range(60)]

    def attacked(name: str, most: int, by: float = 0.05, data: int = 60) -> Run:
        return attack(
            recipes="input-reduction",
            victims="chrf",
            data=write(columns, [(*row[:2], row[2] if place % 3 else "snow") for place, row in enumerate(rows[:data])]),
            goal=f"overpenalise[by={by}]",
            out=tmp_path / name,
            constraints="none",
            max_queries=most,
            engine=Engine(quiet=True),
        )

    sturdy, frail = attacked("sturdy", 1), attacked("frail", 40)
    (change,) = compare(sturdy, frail)
    assert change.measure == "success" and change.new > change.old and change.regression and change.paired
    assert comparison_table(compare(sturdy, frail), "old", "new").rows[0][0] == "WORSE"
    assert compare(frail, sturdy)[0].outcome == "better"
    assert not compare(frail, frail)[0].regression
    (unpaired,) = compare(sturdy, attacked("others", 40, data=59))
    assert unpaired.regression and not unpaired.paired
    with pytest.raises(UserError, match=r"goal of .* is overpenalise.by=0.05., that of .*by=9.0.: compare"):
        compare(frail, attacked("other goal", 40, by=9.0))


def test_two_attacks_on_the_same_sentences_are_compared_in_pairs(write: Write, tmp_path: Path) -> None:
    """Few sentences that all fell anew are told by pairs, where shares of independent samples are not sure."""
    rows = [(f"q{row}", f"{SENTENCE} {row}", f"{SENTENCE} {row}" if row % 3 else "snow") for row in range(12)]
    data = write("source translation reference", rows)
    few = {"constraints": "none", "engine": Engine(quiet=True)}
    runs = [
        attack(
            recipes="input-reduction",
            victims="chrf",
            data=data,
            goal="overpenalise[by=0.05]",
            out=tmp_path / str(most),
            max_queries=most,
            **few,
        )
        for most in (1, 40)
    ]
    (change,) = compare(*runs)
    share = runs[1].table("attacks")["success"].mean()
    assert (change.old, change.new) == (0.0, pytest.approx(100 * share))
    assert change.p == pytest.approx(2 * 0.5 ** runs[1].table("attacks")["success"].sum())


@pytest.mark.slow
@pytest.mark.parametrize("fewer", [0, 1])
def test_attacks_on_the_only_system_of_each_run_are_compared_whatever_it_is_called(
    write: Write, tmp_path: Path, fewer: int
) -> None:
    """In pairs on the same sources, and without them on others."""
    data = [write("source reference", [(f"{SENTENCE} {row}", "x") for row in range(20 - less)]) for less in (0, fewer)]
    constant = f"command[cmd={sys.executable} -c 'import sys; [print(7, flush=True) for _ in sys.stdin]',name=new]"
    runs = [
        attack(
            recipes="input-reduction",
            data=given,
            goal="collapse",
            systems=system,
            out=tmp_path / str(number),
            max_queries=20,
            engine=Engine(quiet=True),
        )
        for number, (given, system) in enumerate(zip(data, (constant, "command[cmd=rev,name=old]"), strict=True))
    ]
    (change,) = compare(*runs)
    assert (change.system, change.scorer, change.old) == ("old", "chrf", 0.0)
    assert change.new > 50 and change.regression and change.paired == (not fewer)
    (back,) = compare(*runs[::-1])
    assert not back.regression


def test_the_normal_approximation_is_two_sided() -> None:
    """Beyond 1.96 standard errors on either side lie 5 % of the normal distribution."""
    for sign in (-1, 1):
        assert normal_test((0.0, 0.6), (sign * 1.96, 0.8), 100).p == pytest.approx(0.05, abs=1e-4)


def test_without_deviations_equal_values_have_p_one_and_others_cannot_be_tested() -> None:
    assert normal_test((1.0, 0.0), (1.0, None), 100).p == 1
    assert np.isnan(normal_test((1.0, 0.0), (0.9, 0.0), 100).p)


def preferring(tmp_path: Path, name: str, errors: int) -> Run:
    """Preferences on forty sentences, and a scorer that is wrong about some of them."""
    folder = tmp_path / "darr" / "de-en"
    folder.mkdir(parents=True, exist_ok=True)
    numbers = range(40)
    (folder / "sources.txt").write_text("".join(f"Satz {number}\n" for number in numbers), "utf-8")
    (folder / "references.txt").write_text("".join(f"Sentence {number}\n" for number in numbers), "utf-8")
    judged = [f"{number}\tgood\tbad\tFine {number}\tPoor {number}" for number in numbers]
    header = "segment\tbetter_system\tworse_system\tbetter\tworse"
    (folder / "darr.tsv").write_text("\n".join([header, *judged]) + "\n", "utf-8")
    scores = [
        f"Satz {number}\t{word} {number}\t{(word == 'Fine') == (number >= errors):d}"
        for number in numbers
        for word in ("Fine", "Poor")
    ]
    file = tmp_path / f"{name}.tsv"
    file.write_text("\n".join(["source\ttranslation\tscore", *scores]) + "\n", "utf-8")
    quiet = {"resamples": 400, "engine": Engine(quiet=True)}
    return correlate(scorers=f"scores[file={file},name=Mine]", data=str(folder), out=tmp_path / name, **quiet)  # type: ignore[arg-type]


def test_preferences_are_kept_and_compared_in_pairs(tmp_path: Path) -> None:
    """Eight of forty sentences judged the other way: 2 of 2⁸ arrangements are as extreme."""
    old, new = preferring(tmp_path, "old", 2), preferring(tmp_path, "new", 10)
    (change,) = compare(old, new)
    assert (change.measure, change.paired, change.regression) == ("darr", True, True)
    assert change.p == pytest.approx(2 / 2**8)
    assert {same.p for same in compare(old, old)} == {1.0}


def test_preferences_under_noise_are_compared_in_pairs(tmp_path: Path) -> None:
    preferring(tmp_path, "other", 0)
    noisy = {"side": "reference", "resamples": 100, "engine": Engine(quiet=True)}
    run = metric(
        scorers="chrf",
        data=str(tmp_path / "darr" / "de-en"),
        suite="visual[level=0|0.3]",
        out=tmp_path / "noisy",
        **noisy,
    )  # type: ignore[arg-type]
    found = compare(run, run)
    assert {(change.measure, change.level) for change in found} == {("darr", 0.0), ("darr", 0.3)}
    assert all(change.paired and change.p == 1.0 for change in found)


@pytest.mark.parametrize(
    ("wrong", "message"), [({"correction": "holm"}, "correction=.holm.: expected max-t"), ({"alpha": 2}, "alpha=2: ")]
)
def test_what_no_test_knows_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        compare("old", "new", **wrong)


class Dead(System):
    """Always says the same."""

    signature = "dead"

    def __init__(self) -> None:
        self.spec = Spec("copyist")

    def translate(self, texts: Sequence[str]) -> list[str]:
        return ["Thank you ."] * len(texts)


@pytest.fixture
def good_and_dead(write: Write, tmp_path: Path) -> tuple[Run, Run]:
    """Runs of a system that copies and of one that always says the same."""
    texts = [" ".join(WORDS[start : start + 8]) for start in range(10)] * 3
    data = write("source reference", [(f"{text} {row}", f"{text} {row}") for row, text in enumerate(texts)])
    quick = {"suite": "case[level=1]", "scorers": ["chrf", "bleu"], "resamples": 400, "engine": Engine(quiet=True)}
    old, new = (
        mt(systems=[system], data=data, out=tmp_path / name, **quick)  # type: ignore[arg-type]
        for name, system in (("good", Copyist(False)), ("dead", Dead()))
    )
    return old, new


def test_a_dead_model_is_worse_though_nothing_shakes_it(good_and_dead: tuple[Run, Run]) -> None:
    """A system that always says the same has the best CONSIS there is; its quality is what fell."""
    found = compare(*good_and_dead)
    assert {change.measure for change in found.of("worse")} >= {"quality", "quality_perturbed"}
    useless, answer, alarm, *_ = found.findings
    assert (useless.what, answer.what, alarm.what) == ("near_baseline", "only_worse", "got_worse")
    assert useless.who == "copyist" and answer.facts["called"] == "clean quality" and alarm == found.failures[0]
    assert "got_better" not in {finding.what for finding in found.findings}
    better = found.of("better")
    assert {"overall_consis", "overall_hurt"} <= {change.measure for change in better} <= {*RELATIVE}
    (hollow,) = (line for line in found.verdict if "lower quality" in line)
    assert f"{len(better)} measures" in hollow


def test_two_dead_models_are_the_same_and_that_they_are_dead_comes_first(good_and_dead: tuple[Run, Run]) -> None:
    found = compare(good_and_dead[1], good_and_dead[1])
    assert [finding.what for finding in found.findings][:2] == ["near_baseline", "no_difference"]
    assert not found.failures, "what was no better before is no regression"
    assert "near_baseline" not in {finding.what for finding in compare(*good_and_dead[::-1]).findings}


def test_a_ratio_that_the_new_run_no_longer_has_is_a_collapse(good_and_dead: tuple[Run, Run]) -> None:
    """A BLEU of zero has no ROBUST: what could be tested before cannot be now."""
    collapsed = compare(*good_and_dead).of("collapsed")
    assert {(change.measure, change.scorer) for change in collapsed} >= {("robust", "bleu"), ("overall_robust", "bleu")}
    assert all(change.regression and change.new is None for change in collapsed)
    back = compare(*good_and_dead[::-1])
    assert not back.of("collapsed") and {"quality"} <= {change.measure for change in back.of("better")}


def test_requirements_are_about_the_new_run(good_and_dead: tuple[Run, Run]) -> None:
    good, dead = good_and_dead
    require = ["quality[chrf] >= 50", "robust[chrf] >= 85"]
    assert [answer.met for answer in compare(good, dead, require=require).answers] == [False, True]
    assert [answer.met for answer in compare(dead, good, require=require[0]).answers] == [True]


@pytest.mark.slow
def test_a_perturbation_that_only_the_old_run_has_is_named(data: Dataset, tmp_path: Path) -> None:
    quick = {"systems": [Copyist(False)], "data": data, "scorers": ["chrf"], "resamples": 100}
    old, new = (
        mt(suite=suite, out=tmp_path / str(len(suite)), engine=Engine(quiet=True), **quick)  # type: ignore[arg-type]
        for suite in ("case[level=1],punct-remove,misspell[level=0.5]", "case[level=1]")
    )
    assert compare(old, new).only_old == ("misspell",)


def test_two_scorers_and_four_measures_raise_no_more_false_alarms_than_one_test() -> None:
    """Eight tests of nothing, each at .05, would sound an alarm in a third of comparisons."""
    places = [(scorer, measure) for scorer in ("chrf", "bleu") for measure in ("quality", "robust", "consis", "delta")]
    alarms = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        found = []
        for scorer, measure in places:
            value, null = float(rng.normal()), rng.normal(size=399)
            test = Test(value, null, 500, 500, p_value(null, value, segments=500), "bootstrap")
            found.append(Compared(Place("de-en", scorer, system="a"), measure, 50.0, 50.0 + value, test, True))
        alarms += any(change.outcome in ("worse", "better") for change in judge(found))
    assert alarms / 300 <= 0.05 + 2 * 0.0126


def test_a_gain_is_better_and_a_fall_within_the_allowance_is_none() -> None:
    """A fix that gained 22.5 points of ROBUST is not one of forty rows of p = 1."""
    null = np.random.default_rng(0).normal(size=999)
    for value, allowed, outcome in ((22.5, 0.0, "better"), (-22.5, 0.0, "worse"), (-22.5, 30.0, "same")):
        test = Test(value, null, 500, 500, p_value(null, value, segments=500), "bootstrap")
        found = [Compared(Place("de-en", "bleu", system="a"), "robust", 70.0, 70.0 + value, test, True)]
        assert [change.outcome for change in judge(found, min_drop=allowed)] == [outcome]


def run(folder: Path, pair: str) -> Run:
    """A run on pairs that the data bring."""
    count = 24
    data = pl.DataFrame(
        {
            "source": [f"Satz {number}." for number in range(count)],
            "perturbed": [f"saz {number}" for number in range(count)],
            "reference": [f"Sentence {number}." for number in range(count)],
            "translation": [f"Sentence {number}." for number in range(count)],
            "translation_perturbed": [f"Sentence {number}" for number in range(count)],
            "system": ["s"] * count,
            "language_pair": [pair] * count,
        }
    )
    return bq.mt(data=data, scorers="chrf", out=folder, resamples=400)


def test_a_region_makes_no_other_language(tmp_path: Path) -> None:
    found = bq.compare(run(tmp_path / "a", "de-DE-en"), run(tmp_path / "b", "de-en"))
    assert found.changes
    assert {change.outcome for change in found.changes} == {"same"}
    assert all(change.paired for change in found.changes)


def test_other_language_pairs_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"de-en in .*, fr-en in"):
        bq.compare(run(tmp_path / "a", "de-en"), run(tmp_path / "b", "fr-en"))


ROBUST = Kind("robust", unit="%", better="up")


def repeated(folder: Path, value: float = 90.0, p: float = 0.2, **changes: object) -> Run:
    made = Run.resume(folder, "mt", {"data": changes.get("data", "d.de-en#1")})
    made.info.versions |= {"numpy": str(changes.get("numpy", "2.0"))}
    made.info.signatures = {"scorer chrf": str(changes.get("scorer", "nrefs:1"))}
    measures = [
        Measure(ROBUST, value, n=9, system="s", scorer="chrf", perturbation="case", p=p, p_corrected=p),
        Measure(ROBUST, 80.0, n=9, system="t", scorer="chrf", perturbation="case"),
    ]
    return made.finish(measures_frame(measures).with_columns(study=pl.lit("mt")))


def test_equal_runs_are_the_same_and_nothing_is_blamed(tmp_path: Path) -> None:
    found = differences(repeated(tmp_path / "a"), repeated(tmp_path / "b"))
    assert found.same and found.measures == 2 and found.causes == ()


@pytest.mark.parametrize(
    ("change", "blamed"),
    [
        ({"numpy": "2.9"}, "version of numpy: 2.0 then, 2.9 now"),
        ({"scorer": "nrefs:2"}, "signature of scorer chrf: nrefs:1 then, nrefs:2 now"),
        ({"data": "d.de-en#2"}, "data: d.de-en#1 then, d.de-en#2 now"),
    ],
)
def test_numbers_that_differ_come_with_what_else_is_different(
    change: dict[str, str], blamed: str, tmp_path: Path
) -> None:
    found = differences(repeated(tmp_path / "a"), repeated(tmp_path / "b", 91.0, 0.01, **change))
    assert found.causes == (blamed,)
    assert found.numbers == (
        "s chrf case robust: value was 90.0, is 91.0",
        "s chrf case robust: p was 0.2, is 0.01",
        "s chrf case robust: p_corrected was 0.2, is 0.01",
    )


def test_a_measure_of_one_run_alone_is_named(tmp_path: Path) -> None:
    old, new = repeated(tmp_path / "a"), repeated(tmp_path / "b")
    new.finish(new.measures.head(1))
    assert differences(old, new).numbers == (f"t chrf case robust: only in {old.folder}",)
