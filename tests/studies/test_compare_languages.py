"""Runs whose language pairs are written differently, or differ."""

from pathlib import Path

import polars as pl
import pytest

import babelquake as bq
from babelquake.errors import UserError
from babelquake.runs.run import Run


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
