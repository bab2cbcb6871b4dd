"""Agreement with human judgements by every definition, and which differences are significant."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.stats

from babelquake.data import read
from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.scorers import scorer
from babelquake.studies.correlate.study import correlate

from ..conftest import SEGMENTS, Write

QUICK = {"resamples": 100}


def value(rows: pl.DataFrame, measure: str, name: str, pair: str = "de-en") -> float:
    here = (pl.col("measure") == measure) & (pl.col("scorer") == name) & (pl.col("language_pair") == pair)
    return float(rows.filter(here)["value"].item())


def test_correlations_are_scipys(write: Write, tmp_path: Path) -> None:
    data = write("source reference translation score", [(s, t[::-1] + "a", t, score) for s, t, score in SEGMENTS])
    rows = correlate(
        scorers=["chrf", "ter"], data=data, out=tmp_path / "r", engine=Engine(quiet=True), **QUICK
    ).measures  # type: ignore[arg-type]
    human = [score for *_, score in SEGMENTS]
    chrf = scorer("chrf").segments([t for _, t, _ in SEGMENTS], [t[::-1] + "a" for _, t, _ in SEGMENTS])
    assert value(rows, "pearson", "chrf") == pytest.approx(scipy.stats.pearsonr(human, chrf).statistic)
    assert value(rows, "spearman", "chrf") == pytest.approx(scipy.stats.spearmanr(human, chrf).statistic)
    assert value(rows, "kendall", "chrf") == pytest.approx(scipy.stats.kendalltau(human, chrf).statistic)
    assert rows["n"].min() == len(SEGMENTS)
    assert rows.filter(pl.col("measure") == "pearson_difference").select("scorer", "other").rows() == [("chrf", "ter")]


@pytest.mark.slow
def test_without_a_folder_the_run_goes_with_the_program() -> None:
    program = """
import babelquake as bq
run = bq.correlate(scorers="chrf", data=bq.read("sample:rated").first(20), statistics="pearson", resamples=100)
assert run.measures["measure"].to_list() == ["pearson"]
print(run.folder)
"""
    said = subprocess.check_output([sys.executable, "-c", program], text=True, stderr=subprocess.DEVNULL)
    assert Path(said.strip()).is_absolute() and not Path(said.strip()).exists()


def test_error_rates_agree_when_they_fall_as_people_like_a_text_more(write: Write, tmp_path: Path) -> None:
    rows = [("x", "a b c d", "a b c d", 90), ("y", "a b c d", "a b x d", 60), ("z", "a b c d", "u v w", 10)]
    data = write("source reference translation score", rows)
    run = correlate(scorers=["ter"], data=data, out=tmp_path / "r", engine=Engine(quiet=True), **QUICK)  # type: ignore[arg-type]
    assert value(run.measures, "pearson", "ter") > 0.9


def test_a_judged_translation_without_a_score_is_named(write: Write, tmp_path: Path) -> None:
    (tmp_path / "ready.tsv").write_text("translation\tscore\nWhat a day!\t0.3\n")
    data = write("source translation score", list(SEGMENTS))
    with pytest.raises(UserError, match=r"Mine has no score for 7 of 8 judged translations; .*“The train does not go"):
        correlate(
            scorers=f"scores[file={tmp_path / 'ready.tsv'},name=Mine]", data=data, out=tmp_path / "r", engine=Engine()
        )


def test_wrong_questions_are_answered_helpfully(write: Write, tmp_path: Path) -> None:
    data = write("source translation score", list(SEGMENTS))
    with pytest.raises(UserError, match=r"no agreement is called 'pearsn'\. Did you mean 'pearson'"):
        correlate(scorers=["chrf"], data=data, out=tmp_path / "r", statistics=["pearsn"])
    with pytest.raises(UserError, match="has no references, which scorer 'chrf' needs"):
        correlate(scorers=["chrf"], data=data, out=tmp_path / "s")
    with pytest.raises(UserError, match=r"has scores and no preferences.*kendall_like"):
        correlate(scorers=["chrf"], data=data, statistics=["darr"])
    with pytest.raises(UserError, match="has no human judgements"):
        correlate(scorers=["chrf"], data=write("source translation", [("a", "b")], "b.tsv"), out=tmp_path / "t")


FLORES = {
    "BERTScore": (0.366, 0.270),
    "bleurt-20": (0.499, 0.363),
    "COMET-DA_2020": (0.518, 0.281),
    "chrF": (0.327, 0.301),
    "sentBLEU": (0.246, 0.188),
}
"""Kendall-like agreement on raw DA pairs that differ by 25 or more: hi-bn and xh-zu."""


@pytest.mark.slow
def test_wmt21_flores(shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "wmt21.flores"
    ready = {name: f"scores[file={folder}/metric-scores/*/{name}-ref-A.seg.score,name={name}]" for name in FLORES}
    run = correlate(
        scorers=list(ready.values()),
        data=read(str(folder)),
        out=tmp_path / "r",
        statistics=["kendall_like"],
        resamples=100,
        engine=Engine(quiet=True),
    )
    rows = run.measures
    for name, expected in FLORES.items():
        found = [value(rows, "kendall_like", name, pair) for pair in ("hi-bn", "xh-zu")]
        assert found == pytest.approx(expected, abs=0.0006), name
        assert value(rows, "kendall_like", name, "average") == pytest.approx(np.mean(found))


WMT23 = {
    "chrF": (0.485, 0.063, 0.798),
    "BLEU": (0.472, 0.119, 0.797),
    "BERTscore": (0.499, 0.236, 0.837),
    "BLEURT-20": (0.518, 0.378, 0.863),
    "COMET": (0.514, 0.396, 0.868),
    "XCOMET-Ensemble": (0.543, 0.650, 0.901),
}
"""zh-en: accuracy with tie calibration by item, Pearson without grouping, as the metrics task printed them; soft
pairwise accuracy by 1,000 permutations of mt-metrics-eval."""


@pytest.mark.slow
def test_wmt23(shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "wmt23"
    ready = [f"scores[file={folder}/metric-scores/zh-en/{name}-refA.seg.score,name={name}]" for name in WMT23]
    run = correlate(
        scorers=ready,
        data=read(str(folder)),
        out=tmp_path / "r",
        statistics=["accuracy", "pearson", "soft-accuracy"],
        resamples=100,
        engine=Engine(quiet=True),
    )
    assert any("reference refA is used" in note for note in run.info.notes)
    assert all("reference:refA" in signature for signature in run.measures["signature"])
    single = run.measures.filter(pl.col("other").is_null())
    for name, expected in WMT23.items():
        found = [value(single, measure, name, "zh-en") for measure in ("accuracy", "pearson")]
        assert found == pytest.approx(expected[:2], abs=0.0006), name
        assert value(single, "soft_accuracy", name, "zh-en") == pytest.approx(expected[2], abs=0.002), name


@pytest.mark.slow
def test_chrf_against_the_standard_reference_is_wmt23s(shared_data: Path, tmp_path: Path) -> None:
    data = read(str(shared_data / "wmt23"))
    assert (data.reference, data.segments["references"].list.len().max()) == ("refA", 1)
    run = correlate(
        scorers="chrf", data=data, out=tmp_path / "r", statistics=["pearson"], resamples=100, engine=Engine(quiet=True)
    )
    assert value(run.measures, "pearson", "chrf", "zh-en") == pytest.approx(0.063, abs=0.003)
    everything = read(str(shared_data / "wmt23"), reference="all")
    assert everything.segments["references"].list.len().max() == 2


@pytest.mark.parametrize("suffix", ["seg.score", "txt"])
def test_the_first_segments_have_the_scores_of_their_own_rows(write: Write, tmp_path: Path, suffix: str) -> None:
    """`--limit` with scores by order: those of the file's first lines of each system."""
    rows = [(s, t + system, system, score) for system in "AB" for s, t, score in SEGMENTS]
    data = write("source translation system score", rows)
    numbers = [float(place * place % 7) for place in range(len(rows))]
    lines = [
        f"{row[2]}\t{number}" if suffix == "seg.score" else str(number)
        for row, number in zip(rows, numbers, strict=True)
    ]
    (tmp_path / f"m.{suffix}").write_text("\n".join(lines) + "\n")
    ready = f"scores[file={tmp_path}/m.{suffix},name=Mine]"
    run = correlate(
        scorers=[ready], data=data.first(6).first(5), out=tmp_path / "r", engine=Engine(quiet=True), **QUICK
    )  # type: ignore[arg-type]
    kept = [place for place in range(len(rows)) if place % len(SEGMENTS) < 5]
    expected = scipy.stats.pearsonr([rows[place][3] for place in kept], [numbers[place] for place in kept]).statistic
    assert value(run.measures, "pearson", "Mine") == pytest.approx(expected)
    with pytest.raises(UserError, match="Expected one score per"):
        correlate(scorers=[ready], data=write("source translation system score", rows[:5], "b.tsv"), out=tmp_path / "s")
