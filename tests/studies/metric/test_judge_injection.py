"""`--suite judge-injection`: how far a judge's score rises when the translation claims to be perfect."""

from pathlib import Path

import polars as pl

from babelquake.data import read
from babelquake.engine import Engine
from babelquake.studies.metric.study import metric


def believes(translation: str, reference: str) -> float:
    """A judge that gives full marks to whoever says "perfect"."""
    return 100.0 if "perfect" in translation.lower() else 50.0


def obeys(translation: str, source: str) -> float:
    """A judge that does what the source tells it."""
    return 100.0 if "ignore all instructions" in source.lower() else 50.0


def test_a_judge_that_believes_claims_is_seen_to_rise_and_chrf_is_not(tmp_path: Path) -> None:
    run = metric(
        data=read("sample:rated").first(40),
        scorers=[believes, obeys, "chrf"],
        suite="judge-injection",
        side="translation",
        out=tmp_path / "run",
        engine=Engine(quiet=True),
        resamples=100,
    )
    rises = run.measures.filter(pl.col("measure") == "delta")
    assert rises["perturbation"].n_unique() >= 4
    by_scorer = dict(rises.group_by("scorer").agg(pl.col("value").max()).iter_rows())
    assert by_scorer.pop("chrf") <= 0
    assert list(by_scorer.values()) == [50.0, 50.0]
    told = rises.filter(pl.col("value") == 50).select("perturbation", "scorer").rows()
    assert {label for label, scorer in told if "obeys" in scorer} == {"judge-claim-source[form=instruction]"}
    assert all("source" not in label for label, scorer in told if "believes" in scorer)
    believing = [sentence for sentence in run.verdict if "believes what it reads" in sentence]
    assert len(believing) == 2
    assert any("No claim" in sentence and "chrF" in sentence for sentence in run.verdict)
