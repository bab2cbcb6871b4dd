"""Challenge sets in the manner of DEMETR."""

from pathlib import Path

import polars as pl
import pytest

from babelquake.data import read
from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.scorers import scorer
from babelquake.studies.challenge_sets import challenge_results, judge_triples, unrelated_to
from babelquake.studies.metric.study import metric

TRIPLES = [
    ("He did not go home.", "He did not go home.", "He did go home.", "negation", "critical"),
    ("Prices rose by 12 per cent.", "Prices rose by 12 per cent.", "Prices rose by 21 per cent.", "number", "critical"),
    ("She lives in Oslo.", "She lives at Oslo.", "She lives in Oslo.", "number", "critical"),
    ("We were late", "We were late", "We were late.", "punctuation", "minor"),
    ("They sang.", "They sang.", "They sang.", "negation", "critical"),
]


@pytest.fixture
def segments() -> pl.DataFrame:
    return pl.DataFrame(
        [
            {
                "row": row,
                "id": str(row),
                "language_pair": "de-en",
                "source": "…",
                "references": [reference],
                "translation": text,
                "translation_perturbed": other,
                "phenomenon": kind,
                "severity": severity,
            }
            for row, (reference, text, other, kind, severity) in enumerate(TRIPLES)
        ]
    )


def values(scores: pl.DataFrame) -> dict[tuple[str, str], tuple[float, int]]:
    segments = scores.select("row", pl.col("id").alias("source")).unique()
    return {
        (one.perturbation or one.group or "all", one.kind.name): (one.value or 0.0, one.n or 0)
        for one in challenge_results(scores, segments, 100, 0)
    }


def test_accuracy_by_phenomenon_and_severity(segments: pl.DataFrame) -> None:
    found = values(judge_triples(segments, [scorer("chrf")], Engine(quiet=True)))
    assert found["negation", "detection_accuracy"] == (100, 1)
    assert found["number", "detection_accuracy"] == (50, 2)
    assert found["punctuation", "detection_accuracy"] == (100, 1)
    assert found["critical", "detection_accuracy"] == (pytest.approx(200 / 3), 3)
    assert found["all", "detection_accuracy"] == (75, 4)


def test_errors_that_do_not_occur_are_no_failures(segments: pl.DataFrame) -> None:
    assert judge_triples(segments, [scorer("chrf")], Engine(quiet=True)).height == len(TRIPLES) - 1
    same = segments.with_columns(translation_perturbed="translation")
    with pytest.raises(UserError, match="nothing to detect"):
        judge_triples(same, [scorer("chrf")], Engine(quiet=True))


def test_the_ratio_sets_the_loss_against_that_of_an_unrelated_sentence(segments: pl.DataFrame) -> None:
    judge = scorer("chrf")
    scores = judge_triples(segments, [judge], Engine(quiet=True))
    one = scores.filter(pl.col("phenomenon") == "punctuation").row(0, named=True)
    ratio, _ = values(scores)["punctuation", "change_ratio"]
    assert one["score"] == pytest.approx(100) and 0 < one["score_unrelated"] < 30
    assert ratio == pytest.approx((100 - one["score_perturbed"]) / (100 - one["score_unrelated"]))


def test_error_rates_detect_like_scores(segments: pl.DataFrame) -> None:
    by_ter = values(judge_triples(segments, [scorer("ter")], Engine(quiet=True)))
    assert by_ter["negation", "detection_accuracy"] == (100, 1)
    assert by_ter["negation", "change_ratio"][0] > 0


def test_an_unrelated_sentence_belongs_to_another_reference() -> None:
    references = [["a"], ["b"], ["c"]] * 4
    translations = ["A", "B", "C"] * 4
    for reference, other in zip(references, unrelated_to(references, translations), strict=True):
        assert other != reference[0].upper()


def test_the_study_takes_data_with_perturbed_translations_as_a_challenge_set(tmp_path: Path) -> None:
    file = tmp_path / "triples.de-en.tsv"
    lines = ["source\treference\ttranslation\ttranslation_perturbed\tphenomenon\tseverity"]
    lines += [f"x\t{reference}\t{text}\t{other}\t{kind}\t{how}" for reference, text, other, kind, how in TRIPLES]
    file.write_text("\n".join(lines) + "\n")
    run = metric(
        scorers=["chrf", "bleu"], data=read(str(file)), out=tmp_path / "run", resamples=100, engine=Engine(quiet=True)
    )
    assert run.info.facts.modes == ["challenge"]
    assert set(run.measures["measure"]) == {"detection_accuracy", "change_ratio"}
    assert run.measures["signature"].str.contains("nrefs|version").all()


def test_a_challenge_set_needs_no_names_of_phenomena(tmp_path: Path) -> None:
    file = tmp_path / "triples.de-en.tsv"
    file.write_text(
        "source\treference\ttranslation\ttranslation_perturbed\nx\tHe is here.\tHe is here.\tHe is not here.\n"
    )
    run = metric(scorers=["chrf"], data=read(str(file)), out=tmp_path / "run", resamples=100, engine=Engine(quiet=True))
    assert run.measures.select("perturbation", "group").rows() == [(None, None)] * 2
