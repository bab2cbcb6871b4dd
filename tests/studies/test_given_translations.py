"""Variants of translations and references that the data bring, in the studies of metrics and of QE."""

from pathlib import Path

import polars as pl
import pytest

import babelquake as bq
from babelquake.errors import UserError

REFERENCES = [
    f"The {noun} is in the {place}." for noun in ("cat", "dog", "key", "map") for place in ("box", "car", "sea")
]


def challenge(**further: object) -> pl.DataFrame:
    """Translations with an error of meaning, and with a harmless change."""
    harmful = [text.replace("is in", "is not in") for text in REFERENCES]
    harmless = [text.replace(".", "!") for text in REFERENCES]
    count = len(REFERENCES)
    return pl.DataFrame(
        {
            "source": [f"Satz {number}" for number in range(count)] * 2,
            "reference": REFERENCES * 2,
            "translation": REFERENCES * 2,
            "translation_perturbed": harmful + harmless,
            "perturbation": ["negated"] * count + ["excited"] * count,
            "meaning": ["altering"] * count + ["preserving"] * count,
            "domain": ["a" if number % 2 else "b" for number in range(count)] * 2,
            "document": [f"d{number // 3}" for number in range(count)] * 2,
            **further,
        }
    )


def test_a_challenge_set_is_given_by_two_columns(tmp_path: Path) -> None:
    run = bq.metric(scorers="chrf", data=challenge(), by="domain", out=tmp_path / "r", resamples=400)
    rows = run.measures.filter(pl.col("measure") == "detection_accuracy")
    assert set(rows["perturbation"].drop_nulls()) == {"negated", "excited"}
    assert set(rows["group"].drop_nulls()) == {"a", "b"}
    assert rows["value"].to_list() == pytest.approx([100.0] * rows.height)
    assert "unit:document" in rows["signature"][0]


def test_made_changes_stand_beside_given_ones(tmp_path: Path) -> None:
    run = bq.metric(scorers="chrf", data=challenge(), suite="word-drop", by="domain", out=tmp_path / "r", resamples=400)
    deltas = run.measures.filter(pl.col("measure") == "delta", pl.col("group").is_null())
    assert set(deltas["perturbation"]) == {"negated", "excited", "word-drop"}
    assert deltas.filter(pl.col("perturbation") == "negated")["n"].to_list() == [12]
    assert run.info.facts.meaning["excited"] == "preserving"
    parts = run.measures.filter(pl.col("measure") == "delta", pl.col("group").is_not_null())
    assert parts.height == 6


def test_references_bring_variants_too(tmp_path: Path) -> None:
    data = pl.DataFrame({"reference": REFERENCES, "reference_perturbed": [text.upper() for text in REFERENCES]})
    run = bq.metric(scorers="chrf", data=data, side="reference", out=tmp_path / "r", resamples=400)
    assert set(run.measures["perturbation"].drop_nulls()) == {"given"}


def test_quality_estimators_are_probed_with_given_changes(tmp_path: Path) -> None:
    run = bq.qe(scorers="chrf", data=challenge(), by="domain", out=tmp_path / "r", resamples=400)
    drops = run.measures.filter(pl.col("measure") == "drop", pl.col("group").is_null())
    assert set(drops["perturbation"]) == {"negated", "excited"}
    assert "discrimination" in set(run.measures["measure"])
    assert set(run.measures.filter(pl.col("measure") == "drop")["group"].drop_nulls()) == {"a", "b"}
    assert "unit:document" in drops["signature"][0]
    assert run.segments.height == len(REFERENCES)


def test_made_probes_stand_beside_given_ones(tmp_path: Path) -> None:
    run = bq.qe(scorers="chrf", data=challenge(), suite="punct-remove", out=tmp_path / "r", resamples=400)
    drops = run.measures.filter(pl.col("measure") == "drop")
    assert set(drops["perturbation"]) == {"negated", "excited", "punct-remove"}
    with pytest.raises(UserError, match="'punct-remove'"):
        bq.qe(
            scorers="chrf",
            data=challenge(perturbation=["punct-remove"] * 24),
            suite="punct-remove",
            out=tmp_path / "s",
        )
