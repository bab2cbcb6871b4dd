"""Measures by the values of a column, and documents as the unit of chance."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import babelquake as bq
from babelquake.errors import UserError
from babelquake.studies.segment_units import slices_of

SOURCES = [f"Sentence number {number} is about topic {number % 3}." for number in range(24)]


def data(**further: object) -> pl.DataFrame:
    """Twenty-four sentences of four documents, worse translated when raw, and worst in the second domain."""
    clean = [f"Satz {number} über Thema {number % 3}." for number in range(24)]
    raw = [text if number % 2 else text[: len(text) // 2] for number, text in enumerate(clean)]
    return pl.DataFrame(
        {
            "source": SOURCES,
            "perturbed": [text.lower().replace(" is ", " iz ") for text in SOURCES],
            "reference": clean,
            "translation": clean,
            "translation_perturbed": raw,
            "system": ["s"] * 24,
            "domain": ["even" if number % 2 == 0 else "odd" for number in range(24)],
            "document": [f"d{number // 6}" for number in range(24)],
            **further,
        }
    )


def test_every_measure_is_told_by_the_values_of_a_column(tmp_path: Path) -> None:
    run = bq.mt(data=data(), by="domain", scorers="chrf", out=tmp_path / "r", resamples=400)
    rows = run.measures.filter(pl.col("group").is_not_null())
    values = {(row["group"], row["measure"]): row for row in rows.iter_rows(named=True)}
    assert values["odd", "robust"]["value"] == pytest.approx(100)
    assert values["even", "robust"]["value"] < 70
    assert values["even", "inconsistent"]["value"] == pytest.approx(100)
    assert {name for _, name in values} >= {"quality", "quality_perturbed", "delta", "robust", "consis", "inconsistent"}
    assert values["even", "robust"]["n"] == 12
    whole = run.measures.filter(pl.col("group").is_null(), pl.col("measure") == "robust").row(0, named=True)
    alone = bq.mt(data=data(), scorers="chrf", out=tmp_path / "s", resamples=400).measures
    same = alone.filter(pl.col("measure") == "robust").row(0, named=True)
    assert [whole[name] for name in ("value", "low", "high", "p")] == [
        same[name] for name in ("value", "low", "high", "p")
    ]


def test_a_segment_belongs_to_every_value_of_a_list() -> None:
    segments = pl.DataFrame({"row": [0, 1, 2], "source": ["a", "b c", "d"], "kind": [["x", "y"], ["y"], []]})
    assert {name: rows.tolist() for name, rows in slices_of(segments, "kind").items()} == {"x": [0], "y": [0, 1]}


def test_numbers_are_cut_into_quarters_and_lengths_into_bands() -> None:
    texts = ["word " * (1 + row) for row in range(40)]
    segments = pl.DataFrame({"row": range(40), "source": texts, "year": np.arange(40) / 2})
    assert [len(rows) for rows in slices_of(segments, "year").values()] == pytest.approx([10] * 4, abs=1)
    assert list(slices_of(segments, "length")) == ["01–5 words", "06–10 words", "11–20 words", "21–40 words"]


def test_a_column_that_does_not_exist_is_named_with_those_that_do(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"by.*domian.*domain"):
        bq.mt(data=data(), by="domian", scorers="chrf", out=tmp_path / "r")


def test_documents_are_resampled_where_data_with_variants_have_them(tmp_path: Path) -> None:
    widths = {}
    for unit in (None, "segment"):
        run = bq.mt(data=data(), scorers="chrf", out=tmp_path / str(unit), unit=unit, resamples=400)  # type: ignore[arg-type]
        row = run.measures.filter(pl.col("measure") == "robust").row(0, named=True)
        widths[unit] = row["sd"]
        assert ("unit:document" in row["signature"]) == (unit is None)
    assert widths[None] != widths["segment"]


def test_one_document_cannot_be_tested(tmp_path: Path) -> None:
    run = bq.mt(data=data(document=["d"] * 24), scorers="chrf", out=tmp_path / "r", resamples=400)
    row = run.measures.filter(pl.col("measure") == "delta").row(0, named=True)
    assert row["verdict"] == "cannot be tested"


def test_resampling_documents_needs_documents(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"unit.*document.*no column document"):
        bq.mt(data=data().drop("document"), unit="document", scorers="chrf", out=tmp_path / "r")
