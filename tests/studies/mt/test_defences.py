"""`mt --defence`: what a defence wins back is measured against the same system without, and recommended with care."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

import babelquake as bq
from babelquake.errors import UserError
from babelquake.runs.run import Run
from babelquake.studies.card import findings_of

WORDS = ["Haus", "Tag", "Zug", "Weg", "Ort", "Bild", "Land", "Buch", "Baum", "Tisch"]
TEXTS = [f"Das {one} und der {other} sind gut." for one in WORDS for other in WORDS[:6]]


def fragile(texts: Sequence[str]) -> list[str]:
    """Repeats sentences that it can read and gives up on others: on double spaces, on letters of other scripts."""
    return [text if text.isascii() and "  " not in text and "\t" not in text else "?" for text in texts]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    data = pl.DataFrame({"source": TEXTS, "reference": TEXTS})
    return bq.mt(
        data=data,
        systems=[fragile],
        defences=["none", "fold", "final-mark"],
        suite=["homoglyph[level=0.3]", "whitespace[level=0.9]"],
        scorers=["chrf"],
        language_pair="de-en",
        resamples=500,
        out=tmp_path_factory.mktemp("runs") / "defended",
        quiet=True,
        cache="none",
    )


def value(run: Run, measure: str, chain: str, perturbation: str | None = None) -> float | None:
    rows = run.measures.filter(
        pl.col("measure") == measure,
        pl.col("system").str.ends_with(f" + {chain}"),
        pl.col("perturbation").is_null() if perturbation is None else pl.col("perturbation") == perturbation,
    )
    return None if rows.is_empty() else rows["value"][0]


def test_fold_wins_back_what_look_alikes_and_spaces_cost(run: Run) -> None:
    for perturbation in ("homoglyph", "whitespace"):
        assert (value(run, "recovered", "fold", perturbation) or 0) >= 90
    assert (value(run, "overall_recovered", "fold") or 0) >= 90
    assert value(run, "clean_change", "fold") == 0
    assert abs(value(run, "overall_gain", "final-mark") or 0) < 1e-9


def test_gains_are_tested_against_the_undefended_system(run: Run) -> None:
    rows = run.measures.filter(pl.col("measure") == "gain", pl.col("system").str.ends_with(" + fold"))
    assert set(rows["verdict"]) == {"significant"}
    assert all(not other.endswith("fold") for other in rows["other"])
    assert rows["system"].str.starts_with(rows["other"][0]).all()


def test_time_and_calls_are_counted(run: Run) -> None:
    assert value(run, "calls", "fold") == 1
    assert 0 < (value(run, "milliseconds", "fold") or 0) < 50


def test_the_verdict_recommends_what_helps_and_costs_nothing(run: Run) -> None:
    found = [one for one in findings_of(run) if one.what == "defence_helps"]
    assert [one.facts["chain"] for one in found] == ["fold"]
    assert any("fold" in sentence and "Recommended" in sentence for sentence in run.verdict)
    assert "What helps against what" in bq.to_markdown(run)


def test_a_defence_that_costs_clean_quality_is_not_recommended(tmp_path: Path) -> None:
    def mute(texts: Sequence[str]) -> list[str]:
        return [
            "?" if text.endswith(".") and text.islower() else said
            for text, said in zip(texts, fragile(texts), strict=True)
        ]

    data = pl.DataFrame({"source": [text.lower() for text in TEXTS], "reference": [text.lower() for text in TEXTS]})
    found = bq.mt(
        data=data.with_columns(pl.all().str.strip_chars(".")),
        systems=[mute],
        defences=["fold+final-mark"],
        suite=["homoglyph[level=0.3]"],
        scorers=["chrf"],
        language_pair="de-en",
        resamples=500,
        quiet=True,
        cache="none",
    )
    (said,) = [one for one in findings_of(found) if one.what in ("defence_helps", "no_defence_recommended")]
    assert said.what == "no_defence_recommended"


def test_systems_known_by_their_translations_alone_cannot_be_defended(tmp_path: Path) -> None:
    data = pl.DataFrame(
        {
            "source": TEXTS,
            "perturbed": [text.upper() for text in TEXTS],
            "translation": TEXTS,
            "translation_perturbed": TEXTS,
            "reference": TEXTS,
            "system": ["A"] * len(TEXTS),
        }
    )
    with pytest.raises(UserError, match="translates"):
        bq.mt(data=data, defences=["fold"], language_pair="de-en", quiet=True)


def test_a_chain_that_does_not_serve_the_language_is_refused_before_anything_is_translated() -> None:
    data = pl.DataFrame({"source": ["元気です。"], "reference": ["I am fine."]})
    with pytest.raises(UserError, match="ar, de, en"):
        bq.mt(data=data, systems=[fragile], defences=["fold+spell"], language_pair="ja-en", quiet=True)


def test_few_sentences_never_show_that_clean_text_is_safe(tmp_path: Path) -> None:
    """Five sentences that a defence leaves alone say nothing about the sixth: no margin, no recommendation."""
    few = bq.mt(
        data=pl.DataFrame({"source": TEXTS[:30], "reference": TEXTS[:30]}),
        systems=[fragile],
        defences=["fold"],
        suite=["homoglyph[level=0.3]"],
        scorers=["chrf"],
        language_pair="de-en",
        resamples=200,
        out=tmp_path / "few",
        quiet=True,
        cache="none",
    )
    assert value(few, "clean_margin", "fold") is None
    assert not any("Recommended" in str(sentence) for sentence in few.verdict)
