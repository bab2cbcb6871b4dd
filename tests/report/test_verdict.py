import re
from collections.abc import Sequence
from html import unescape
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import babelquake as bq
from babelquake.cli import printing
from babelquake.cli.studying import SENTENCES, described, tell
from babelquake.report.html import render
from babelquake.report.markdown import escape, to_markdown
from babelquake.report.names import listed, short_names
from babelquake.report.verdict import sentences, verdict
from babelquake.runs.measures import Kind, Measure, measures_frame
from babelquake.runs.run import Run
from babelquake.studies.card import STUDIES

from .conftest import Toy, mt_run, old


def test_quality_under_noise_and_the_share_kept_are_the_headline(runs: dict[str, Run]) -> None:
    first = verdict(runs["mt"])[0]
    assert re.match(
        r"Best under noise: new with [\d.]+ chrF \(\d+ % of its [\d.]+ on clean text\); old [\d.]+ \(\d+ %", first
    )
    assert first.endswith("; the difference is significant (p = .003).")


def test_losses_are_told_worst_first_with_plain_names(runs: dict[str, Run]) -> None:
    losses = [line for line in verdict(runs["mt"]) if " loses " in line]
    assert re.match(r"Odd capitals: old loses \d+ % of its chrF, new [\d.]+ %", losses[0])
    assert "Too few texts for a conclusion: typos (20 % of words, 1" in "\n".join(verdict(runs["mt"]))


def in_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What the terminal shows, line by line, and in which style."""
    shown: list[tuple[str, str]] = []
    monkeypatch.setattr(printing, "print_text", lambda text, style="": shown.append((text, style)))
    tell(run)
    return shown


def test_terminal_page_markdown_json_and_python_say_the_same(
    runs: dict[str, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    for run in runs.values():
        said = bq.Run.open(run.folder).verdict
        assert said == verdict(run) == described(run)["verdict"]
        lines = [line for line, _ in in_terminal(run, monkeypatch)]
        assert lines[: min(len(said), SENTENCES)] == said[:SENTENCES]
        page = " ".join(unescape(re.sub(r"<[^>]*>", "", render([run]).partition("<body>")[2])).split())
        markdown = " ".join(to_markdown(run).split())
        for sentence in said:
            assert sentence in page
            assert escape(sentence) in markdown
        assert bq.Run.open(run.folder).findings == run.info.findings


MT = {"scorer": "chrf", "n": 60}


def overall(system: str, noisy: float, clean: float) -> list[Measure]:
    values = {"quality_perturbed": noisy, "quality": clean, "robust": 100 * noisy / clean, "consis": 80.0}
    return [Measure(Kind(f"overall_{name}"), value, system=system, **MT) for name, value in values.items()]


def cell(system: str, delta: float, p: float | None, changed: int = 60, **place: Any) -> list[Measure]:
    where: dict[str, Any] = {"system": system, "changed": changed, **MT, **place}
    outcome = {"p": p, "p_corrected": p, "testable": p is not None}
    return [
        Measure(Kind("delta"), delta, **where, **outcome),
        Measure(Kind("robust"), 100 + 2 * delta, **where, **outcome),
        Measure(Kind("consis"), 80.0, **where),
    ]


def told_of(tmp_path: Path, *measures: Measure) -> list[str]:
    return verdict(Run.resume(tmp_path / "r", "mt", {}).finish(measures_frame(measures)))


@pytest.mark.parametrize(
    ("p", "begins", "ends"),
    [
        (0.0001, "Best under noise: B with 52.1 chrF (93 % of its 56.0 on clean text);", "is significant (p < .001)."),
        (
            0.107,
            "No clear winner under noise: B (52.1 chrF) and A (39.8) do not differ significantly (p = .107)",
            "of only 41.0).",
        ),
        (None, "Ahead under noise: B with 52.1", "the difference cannot be tested."),
    ],
)
def test_a_winner_is_named_where_the_test_names_one(tmp_path: Path, p: float | None, begins: str, ends: str) -> None:
    test = Measure(Kind("overall_quality_perturbed_difference"), -12.3, system="A", other="B", **MT)
    test.p = test.p_corrected = p
    test.testable = p is not None
    place = {"perturbation": "misspell", "level": 0.1}
    rows = [*cell("A", -1.0, 0.9, **place), *cell("B", -2.0, 0.9, **place)]
    said = told_of(tmp_path, *overall("A", 39.8, 41.0), *overall("B", 52.1, 56.0), test, *rows)[0]
    assert said.startswith(begins) and said.endswith(ends)
    assert "A 39.8 (keeps 97 %, but of only 41.0)" in said


def copying(texts: Sequence[str]) -> list[str]:
    return [*texts]


def dead(texts: Sequence[str]) -> list[str]:
    return ["We go home today."] * len(texts)


@pytest.mark.slow
@pytest.mark.parametrize(("useless", "than"), [(copying, "copying the source"), (dead, "one sentence for everything")])
def test_a_system_that_does_not_translate_is_never_praised(
    tmp_path: Path, useless: Toy, than: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A function that returns the source, or always the same, loses nothing: that is not robustness."""
    run, name = mt_run(tmp_path / "run", systems=[useless, old]), useless.__name__
    alarm, *others = sentences(run)
    assert alarm.weight == "alarm" and alarm.text.startswith(f"{name} translates no better than ")
    assert than in alarm.text and not any(name in sentence.text for sentence in others)
    assert f'class="headline alarm">{name} translates' in render([run])
    assert in_terminal(run, monkeypatch)[0] == (alarm.text, "bold red")
    baselines = run.measures.filter(pl.col("measure").is_in(["baseline_copy", "baseline_constant"]))
    assert set(baselines["scorer"]) == {"chrf", "bleu[lowercase=true]"} and baselines.height == 4


def test_what_cannot_be_tested_is_not_called_fine(tmp_path: Path) -> None:
    """−21.9 BLEU on five questions was 'no loss beyond chance'."""
    said = told_of(tmp_path, *cell("A", -21.9, None, 5, perturbation="final-delete[mark=question]"))
    assert said == ["Too few texts for a conclusion: final question mark missing (5 changed)."]


def test_a_cell_of_few_changed_segments_is_not_praised_either(tmp_path: Path) -> None:
    said = told_of(tmp_path, *cell("A", 0.0, 1.0, 19, perturbation="case[to=upper]", level=1.0))
    assert said == ["Too few texts for a conclusion: ALL CAPS (19 changed)."]


def test_a_loss_that_is_not_significant_is_shown_where_it_is_large(tmp_path: Path) -> None:
    rows = [*cell("A", -6.9, 0.2, perturbation="punct-remove"), *cell("A", -0.1, 0.8, perturbation="emoji", level=1.0)]
    assert told_of(tmp_path, *rows) == ["No significant loss of chrF: no punctuation (−6.9) and emoji added."]


def test_no_single_cell_makes_the_headline(tmp_path: Path) -> None:
    """19 segments with clean BLEU 6.0 have ROBUST 206.6: that cell has no part in what is said."""
    outlier = cell("A", 53.3, 0.001, 19, perturbation="final-insert[mark=stop]")
    usual = cell("A", -8.0, 0.001, perturbation="misspell", level=0.1)
    said = told_of(tmp_path, *overall("A", 48.0, 56.0), *usual, *outlier)
    assert said == [
        "Under noise A keeps 86 % of its quality: 48.0 chrF instead of 56.0 on clean text.",
        "Typos (10 % of words): A loses 16 % of its chrF (p = .001).",
        "Too few texts for a conclusion: full stop added at the end (19 changed).",
    ]


def test_of_many_systems_the_first_and_the_last_are_named(tmp_path: Path) -> None:
    place = {"perturbation": "misspell", "level": 0.1}
    rows = [
        measure for place_of, name in enumerate("ABCDEFGH") for measure in cell(name, place_of - 9.0, 0.001, **place)
    ]
    (loss,) = [line for line in told_of(tmp_path, *rows) if " loses " in line]
    assert loss.startswith("Typos (10 % of words): A loses") and ", 4 more, last H" in loss
    assert not any(f", {name} " in loss for name in "DEFG")


def test_who_gains_under_a_noise_is_not_said_to_lose_less_than_nothing(tmp_path: Path) -> None:
    place = {"perturbation": "misspell", "level": 0.1}
    (loss,) = told_of(tmp_path, *cell("A", -9.0, 0.001, **place), *cell("B", 4.0, 0.3, **place))
    assert "A loses 18 % of its chrF, B gains 8 % (not significant)" in loss


def test_a_level_that_the_papers_rule_exceeds_is_told_with_what_was_changed(tmp_path: Path) -> None:
    """`keyboard-typo` changes at least one word a sentence: 5 % asked, 15 % changed."""
    place = {"perturbation": "keyboard-typo", "level": 0.05}
    changed = Measure(Kind("achieved_words"), 15.2, 60, **place)
    (said,) = told_of(tmp_path, *cell("A", -5.0, 0.0001, **place), changed)
    assert said == "Slipped keys (5 % of words asked, 15 % changed): A loses 10 % of its chrF (p < .001)."


def test_of_a_sweep_the_level_that_costs_more_stands_beside_the_usual_one(tmp_path: Path) -> None:
    def level(level: float, delta: float, p: float) -> list[Measure]:
        return cell("A", delta, p, perturbation="misspell", level=level)

    rows = [*overall("A", 50.0, 60.0), *level(0.1, -4.0, 0.01), *level(0.2, -9.0, 0.001), *level(0.3, -11.0, 0.2)]
    (loss,) = [line for line in told_of(tmp_path, *rows) if " loses " in line]
    assert loss == "Typos (10 % of words): A loses 8 % of its chrF (p = .010), 18 % under typos (20 % of words)."
    both = [*rows, *overall("B", 55.0, 60.0), *cell("B", -1.0, 0.01, perturbation="misspell", level=0.1)]
    (loss,) = [line for line in told_of(tmp_path / "both", *both) if " loses " in line]
    assert "A loses 8 % of its chrF, B 2 %, A 18 % under typos (20 % of words)" in loss


def test_metric_verdict_tells_harmless_moves(runs: dict[str, Run]) -> None:
    said = verdict(runs["metric"])
    begins = "chrF moves significantly under 2 of 2 harmless changes, most under typos (20 % of words): −"
    assert said[0].startswith(begins)
    assert not any("costs more" in line for line in said), "twelve comparisons are too few"


@pytest.mark.parametrize(("count", "share", "told"), [(19, 60.0, False), (39, 100 / 39, False), (39, 20.0, True)])
def test_a_wrong_order_is_told_where_it_is_surely_not_rare(
    runs: dict[str, Run], tmp_path: Path, count: int, share: float, told: bool
) -> None:
    """One text of 39 whose score a harmful change raised is no metric that rewards harm."""
    measures = runs["metric"].measures
    changed = pl.col("measure").is_in(["harmless_costs_more", "rewards_harmful"]) & (pl.col("scorer") == "chrf")
    measures = measures.with_columns(
        value=pl.when(changed).then(share).otherwise("value"), n=pl.when(changed).then(count).otherwise("n")
    )
    findings = STUDIES.get("metric").findings(Run.resume(tmp_path / "r", "metric", {}).finish(measures))
    said = {finding.what: finding for finding in findings}
    assert ("rewards_harmful" in said) == ("harmless_costs_more" in said) == told


@pytest.mark.parametrize(
    ("p", "said"), [(0.01, "moves significantly under"), (0.5, "does not move significantly under")]
)
def test_one_harmless_change_is_not_counted(runs: dict[str, Run], tmp_path: Path, p: float, said: str) -> None:
    delta = runs["metric"].measures.filter(pl.col("measure") == "delta").head(1)
    run = Run.resume(tmp_path / "r", "metric", {}).finish(
        delta.with_columns(p_corrected=pl.lit(p), verdict=pl.lit("significant" if p < 0.05 else "not significant"))
    )
    assert f" {said} the one harmless change" in verdict(run)[0]


def test_lost_agreement_is_told(runs: dict[str, Run]) -> None:
    assert verdict(runs["agreement"])[0].startswith("With letters with odd marks (30 %), ")


def test_challenge_verdict_names_the_weakest_phenomenon(runs: dict[str, Run]) -> None:
    (said,) = verdict(runs["challenge"])
    assert re.fullmatch(
        r"chrF prefers the good translation in 83.3 % of pairs; it is weakest at articles \(75.0 %\)\.", said
    )


@pytest.mark.parametrize(("value", "said"), [(0.25, "0.250 above"), (-0.25, "0.250 below")])
def test_one_qe_model_scores_harmless_changes_above_or_below(tmp_path: Path, value: float, said: str) -> None:
    kind = Kind("discrimination", unit="score, MPP − MAP", better="up")
    table = measures_frame([Measure(kind, value, scorer="mine", p=0.001, p_corrected=0.001, n=90)])
    run = Run.resume(tmp_path / "r", "qe", {}).finish(table)
    first = verdict(run)[0]
    assert f"scores harmless changes {said} harmful ones (p = .001)" in first
    assert ("wrong way round" in first) == (value < 0)


def test_qe_verdict_ranks_models_and_counts_warnings(runs: dict[str, Run]) -> None:
    said = verdict(runs["qe"])
    assert any("warning" in line for line in said)


FEW = [
    (
        f"Satz {place} war nicht {word}.",
        f"Sentence {place} was not very {word}.",
        f"The sentence {place} was not {word}.",
    )
    for place, word in enumerate(["lang", "kurz", "gut", "neu"])
]


def few(folder: Path) -> Path:
    """Four segments of two systems, too few for any test."""
    lines = ["source\treference\ttranslation\tsystem\tscore\town"]
    for place, (source, reference, translation) in enumerate(FEW):
        lines.append(f"{source}\t{reference}\t{translation}\ta\t{70 + place}\t{place}")
        lines.append(f"{source}\t{reference}\t{translation} No{place}.\tb\t{75 - place * place}\t{5 - place * place}")
    path = folder / "few.de-en.tsv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def test_four_segments_cannot_be_tested_and_every_verdict_says_so(tmp_path: Path) -> None:
    data, options = few(tmp_path), {"resamples": 200}
    pairs = [(source, reference) for source, reference, _ in FEW]
    known = {source: reference for source, reference, _ in FEW}
    systems = [lambda texts: [known.get(text, text) for text in texts]]
    mt = bq.mt(
        systems=systems, data=pairs, suite=["misspell[level=0.9]"], scorers="chrf", out=tmp_path / "mt", **options
    )
    one = bq.qe(scorers="chrf", data=data, out=tmp_path / "one", masked_lm="none", **options)
    two = bq.qe(scorers=["chrf", "ter"], data=data, out=tmp_path / "two", masked_lm="none", **options)
    agreement = bq.correlate(scorers=["chrf", "scores[column=own]"], data=data, out=tmp_path / "agreement", **options)
    assert verdict(mt)[-1] == "Too few texts for a conclusion: typos (90 % of words, 4 changed)."
    for run in (one, two, agreement):
        said = " ".join(verdict(run))
        assert "cannot be tested." in said and "is significant" not in said, (run, said)


@pytest.mark.parametrize(
    ("p", "first"),
    [
        (
            1.0,
            "chrF (Pearson's r 0.412) and judge (0.410) agree best with people; "
            "the difference between them is not significant (p = 1.000).",
        ),
        (
            0.0002,
            "chrF agrees best with people (Pearson's r 0.412), significantly better than judge (0.410) (p < .001).",
        ),
    ],
)
def test_a_lead_that_is_chance_is_not_called_chance_agreement(tmp_path: Path, p: float, first: str) -> None:
    """And a metric of the user's own that is significantly worse does not go unmentioned."""
    kind = Kind("pearson", better="up")
    values = {"chrf": 0.412, "judge": 0.410, "mine": 0.21}
    rows = [Measure(kind, value, 300, scorer=name) for name, value in values.items()]
    for other, found in (("judge", p), ("mine", 0.0001)):
        rows.append(Measure(kind.difference(), 0.1, scorer="chrf", other=other, p=found, p_corrected=found))
    run = Run.resume(tmp_path / "r", "correlate", {}).finish(measures_frame(rows))
    assert verdict(run) == [first, "mine (0.210) agrees significantly less with people than chrF (p < .001)."]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            {"chrf": (-0.52, -0.6, -0.44), "bleu": (-0.61, -0.7, -0.5)},
            "All scorers contradict people, even chrF (Kendall's τ −0.520, 95 % interval −0.600 to −0.440). "
            "If a higher rating means a worse translation here, negate the ratings.",
        ),
        (
            {"chrf": (0.03, -0.05, 0.11), "bleu": (-0.61, -0.7, -0.5)},
            "It cannot be shown that any of the scorers agrees with people, not even chrF (Kendall's τ 0.030, "
            "95 % interval −0.050 to 0.110).",
        ),
        (
            {"chrf": (-0.03, -0.11, 0.05)},
            "It cannot be shown that chrF agrees with people (Kendall's τ −0.030, 95 % interval −0.110 to 0.050).",
        ),
    ],
)
def test_nobody_agrees_best_where_nobody_agrees(
    tmp_path: Path, values: dict[str, tuple[float, float, float]], said: str
) -> None:
    kind = Kind("kendall", better="up")
    rows = [Measure(kind, tau, 300, scorer=name, low=low, high=high) for name, (tau, low, high) in values.items()]
    if len(rows) > 1:
        rows.append(Measure(kind.difference(), 0.09, scorer="chrf", other="bleu", p=0.001, p_corrected=0.001))
    assert verdict(Run.resume(tmp_path / "r", "correlate", {}).finish(measures_frame(rows))) == [said]


def test_an_average_over_language_pairs_is_called_one_and_untested(tmp_path: Path) -> None:
    kind = Kind("kendall_like", better="up")
    rows = [
        Measure(kind, tau, 900, language_pair=pair, scorer=name, low=tau - 0.1, high=tau + 0.1)
        for pair in ("hi-bn", "xh-zu", "average")
        for name, tau in (("chrf", 0.3), ("bleu", 0.2))
    ]
    said = verdict(Run.resume(tmp_path / "r", "correlate", {}).finish(measures_frame(rows)))
    assert said[-1] == (
        "On average over language pairs, chrF (Kendall-like τ 0.300) and BLEU (0.200) come first in agreement with "
        "people; the difference between them is not tested."
    )


@pytest.mark.parametrize(("r", "agrees"), [(-0.3, False), (0.3, True)])
def test_pairwise_accuracy_counts_as_agreement_where_pearson_s_r_is_above_zero(
    tmp_path: Path, r: float, agrees: bool
) -> None:
    """Its chance level depends on ties, so an accuracy below a half may be good and one above it bad."""
    rows = [
        Measure(Kind("accuracy", better="up"), 0.45, 300, scorer="chrf", low=0.41, high=0.49),
        Measure(Kind("pearson", better="up"), r, 300, scorer="chrf", low=r - 0.1, high=r + 0.1),
    ]
    (said,) = verdict(Run.resume(tmp_path / "r", "correlate", {}).finish(measures_frame(rows)))
    assert ("agrees with people: pairwise accuracy 0.450" in said) == agrees
    assert ("contradicts people (Pearson's r −0.300" in said) != agrees


def test_judgements_that_are_yes_or_no_are_spoken_of_by_auc(tmp_path: Path) -> None:
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    lines = ["source\treference\ttranslation\tscore"]
    for place in range(60):
        reference = " ".join(words[place % 5 : place % 5 + 6])
        good = place % 3 > 0
        lines.append(f"Satz {place}\t{reference} {place}\t{reference if good else reference[:9]}\t{int(good)}")
    path = tmp_path / "yes.de-en.tsv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    run = bq.correlate(scorers=["chrf", "ter"], data=path, out=tmp_path / "run", resamples=200)
    assert "(AUC " in verdict(run)[0]
    here = run.measures.filter(pl.col("measure") == "auc_difference")
    assert here["p_corrected"].item() is not None, "the lead is tested"


def test_scorers_that_agree_alike_share_the_lead(tmp_path: Path) -> None:
    data = bq.read("sample:rated").first(200)
    run = bq.correlate(scorers=["chrf", "chrf[name=again]"], data=data, out=tmp_path / "run", resamples=200)
    assert verdict(run)[0].startswith("chrF and again agree equally well with people (")


def test_a_run_without_measures_says_so(tmp_path: Path) -> None:
    run = Run.resume(tmp_path / "r", "mt", {}).finish(measures_frame([]))
    assert verdict(run) == ["There is nothing to report: the run has no results."]


def test_systems_have_short_names_unless_two_would_share_one() -> None:
    assert short_names(["bundled[model=de-en-bpe]", "hf[model=org/opus]", "command[cmd=cat]", "odd["]) == {
        "bundled[model=de-en-bpe]": "de-en-bpe",
        "hf[model=org/opus]": "opus",
        "command[cmd=cat]": "command[cmd=cat]",
        "odd[": "odd[",
    }
    sed = """command[cmd="sed s/a/b/"]"""
    assert short_names([sed, "files[path=a/b]", "/tmp/my.py:go", "command[cmd=x,name=a/b]"]) == {
        sed: sed,
        "files[path=a/b]": "files[path=a/b]",
        "/tmp/my.py:go": "go",
        "command[cmd=x,name=a/b]": "a/b",
    }
    both = ["a[model=x]", "b[model=x]"]
    assert short_names(both) == dict(zip(both, both, strict=True))


def test_long_lists_end_in_a_count() -> None:
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"], most=2) == "a, b and 1 more"
