import re
from pathlib import Path

import polars as pl
import pytest

import babelquake as bq
from babelquake.report.page import verdict
from babelquake.report.phrases import in_words, listed, usual_level
from babelquake.report.results import short_names
from babelquake.runs.measures import Kind, Measure, measures_frame
from babelquake.runs.run import Run


def test_the_mt_verdict_compares_systems_under_the_worst_perturbation(runs: dict[str, Run]) -> None:
    said = "\n".join(verdict(runs["mt"]))
    assert re.search(
        r"old loses \d+ % of its BLEU to case \(all sentences\); new [\d.]+ %; the difference is sig", said
    )


def test_the_first_sentence_says_who_is_sturdier_all_in_all(runs: dict[str, Run]) -> None:
    first = verdict(runs["mt"])[0]
    assert re.match(r"All in all new is the sturdiest: it keeps 9\d % of its BLEU; old \d+ %, more than chance", first)


def test_a_perturbation_that_changed_hardly_anything_is_not_praised(runs: dict[str, Run], tmp_path: Path) -> None:
    table = runs["mt"].measures.with_columns(
        changed=pl.when(pl.col("perturbation") == "case").then(1).otherwise("changed"),
        value=pl.when(pl.col("measure") == "robust").then(100.0).otherwise("value"),
        p_corrected=pl.when(pl.col("measure") == "robust").then(1.0).otherwise("p_corrected"),
    )
    run = Run.resume(tmp_path / "r", "mt", {}).finish(table)
    said = " ".join(verdict(run))
    assert "Too little was changed to say anything of case (1 of 24 texts)." in said
    assert "beyond chance to case" not in said


def test_ranks_are_counted(runs: dict[str, Run]) -> None:
    assert any(re.search(r"^new is the sturdiest system under \d of \d", line) for line in verdict(runs["mt"]))


def test_equal_systems_have_no_sturdiest(runs: dict[str, Run], tmp_path: Path) -> None:
    overall = pl.col("measure").is_in(["overall_robust", "overall_consis"])
    first = pl.col("measure") == "rank"
    value = pl.when(overall).then(90.0).when(first & (pl.col("perturbation") == "case")).then(1.0).otherwise("value")
    one = Run.resume(tmp_path / "one", "mt", {}).finish(runs["mt"].measures.with_columns(value=value))
    assert verdict(one)[0].startswith("All in all no system is the sturdiest: old keeps 90 % of its BLEU; new 90 %.")
    assert "new is the sturdiest system under 2 of 3 perturbations and levels." in verdict(one)
    every = runs["mt"].measures.with_columns(value=pl.when(first).then(1.0).otherwise("value"))
    assert not any(
        "the sturdiest system" in line for line in verdict(Run.resume(tmp_path / "r", "mt", {}).finish(every))
    )


def test_metric_verdict_tells_harmless_moves(runs: dict[str, Run]) -> None:
    said = verdict(runs["metric"])
    assert said[0].startswith("chrF moves significantly under 2 of 2 harmless changes, most under one typo in five")
    assert "costs more than a harmful change in" in said[1]


@pytest.mark.parametrize(
    ("p", "said"), [(0.01, "moves significantly under"), (0.5, "does not move significantly under")]
)
def test_one_harmless_change_is_not_counted(runs: dict[str, Run], tmp_path: Path, p: float, said: str) -> None:
    delta = runs["metric"].measures.filter(pl.col("measure") == "delta").head(1)
    run = Run.resume(tmp_path / "r", "metric", {}).finish(delta.with_columns(p_corrected=pl.lit(p)))
    assert f" {said} the one harmless change" in verdict(run)[0] and "none of" not in verdict(run)[0]


def test_lost_agreement_is_told(runs: dict[str, Run]) -> None:
    assert verdict(runs["agreement"])[0].startswith("Under visual, ")


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
    assert verdict(run)[0] == f"mine scores harmless changes {said} harmful ones, more than chance (p = .001)."


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
    systems = ["command[cmd=cat,name=same]", "command[cmd=tr a-m n-z,name=other]"]
    mt = bq.mt(
        systems=systems, data=pairs, suite=["misspell[level=0.9]"], scorers="chrf", out=tmp_path / "mt", **options
    )
    one = bq.qe(scorers="chrf", data=data, out=tmp_path / "one", masked_lm="none", **options)
    two = bq.qe(scorers=["chrf", "ter"], data=data, out=tmp_path / "two", masked_lm="none", **options)
    agreement = bq.correlate(scorers=["chrf", "scores[column=own]"], data=data, out=tmp_path / "agreement", **options)
    for run in (mt, one, two, agreement):
        said = " ".join(verdict(run))
        assert "cannot be tested." in said and "chance" not in said, (run, said)


def test_scorers_that_agree_alike_share_the_lead(tmp_path: Path) -> None:
    run = bq.correlate(scorers=["chrf", "chrf[name=again]"], data=few(tmp_path), out=tmp_path / "run", resamples=200)
    assert verdict(run) == ["chrF and again agree equally well with people (pairwise accuracy 0.500)."]


def test_a_run_without_measures_says_so(tmp_path: Path) -> None:
    run = Run.resume(tmp_path / "r", "mt", {}).finish(measures_frame([]))
    assert verdict(run) == ["There is nothing to report: the run holds no measures."]


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


def test_levels_in_words() -> None:
    assert in_words("misspell", 0.1) == "one typo in ten words"
    assert in_words("misspell", 0.15) == "misspell (15 % of words)"
    assert in_words("punct-remove", None) == "punct-remove"
    assert in_words("somebody's own", 0.3) == "somebody's own (level 0.3)"
    assert in_words("upper-words", 0.5) == "upper-words (0.5 per word)"
    assert in_words("word-drop", 1.0) == "word-drop (1 content word)"
    assert in_words("word-drop", 2.0) == "word-drop (2 content words)"


def test_the_level_spoken_of_is_the_papers() -> None:
    assert usual_level("misspell", [0.02, 0.1, 0.2]) == 0.1
    assert usual_level("unheard-of", [0.3, 0.1, 0.2]) == 0.2
    assert usual_level("punct-remove", [None]) is None


def test_long_lists_end_in_a_count() -> None:
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"], most=2) == "a, b and 1 more"
