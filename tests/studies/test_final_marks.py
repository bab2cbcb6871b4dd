"""Splits by final mark: a sample of the full stops, duplicates left out (Jwalapuram 2023 §2.1)."""

from pathlib import Path

import polars as pl
import pytest

from babelquake.data import read
from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.studies.final_marks import of_the_sample, unsampled, without_duplicates
from babelquake.studies.metric.study import metric
from babelquake.studies.mt.study import mt

NONE = pl.lit(None, pl.List(pl.String))


def table(texts: list[str]) -> pl.DataFrame:
    return pl.DataFrame({"source": texts, "language_pair": ["de-en"] * len(texts)}).with_row_index("row")


def test_the_sample_depends_on_the_sentences_alone() -> None:
    texts = [f"Satz Nummer {number}." for number in range(40)]
    segments = table([*texts, "Ohne Punkt", "Wirklich?"])
    left_out = unsampled(segments, "source", 10, seed=3)
    assert len(left_out) == 30 and not {40, 41} & left_out
    again = table([*reversed(texts), "Noch einer"])
    chosen = {again["source"][row] for row in unsampled(again, "source", 10, seed=3)}
    assert chosen == {segments["source"][row] for row in left_out}
    assert unsampled(segments, "source", 40, seed=3) == frozenset()


def test_only_final_marks_are_sampled() -> None:
    variants = pl.DataFrame({"row": [0, 0, 1], "perturbation": ["final-delete[mark=stop]", "misspell", "final-insert"]})
    assert of_the_sample(variants, frozenset({0})).rows() == [(0, "misspell"), (1, "final-insert")]


def test_the_first_of_equal_sources_and_of_equal_references_stays() -> None:
    segments = table(["Hallo.", "Welt", "Hallo.", "", "Gruß"])
    assert without_duplicates(segments.with_columns(references=NONE))["row"].to_list() == [0, 1, 3, 4]
    said = [["Hello."], ["World"], ["Hi."], [""], ["World"]]
    assert without_duplicates(segments.with_columns(references=pl.Series(said)))["row"].to_list() == [0, 1, 3]


def test_an_mt_study_samples_and_leaves_duplicates_out(tmp_path: Path) -> None:
    file = tmp_path / "d.tsv"
    lines = [f"Satz Nummer {number % 8}.\tSentence number {number}." for number in range(12)]
    file.write_text("\n".join(["source\treference", *lines, ""]), "utf-8")
    data = read(str(file), language_pair="de-en")
    run = mt(
        systems="command[cmd=cat]",
        data=data,
        suite="final-delete[mark=stop],case[level=1]",
        scorers="chrf",
        out=tmp_path / "run",
        full_stops=3,
        deduplicate=True,
        reset="paper",
        resamples=100,
        engine=Engine(quiet=True),
    )
    assert run.segments.height == 8
    counts = dict(run.variants.group_by("perturbation").len().rows())
    assert counts == {"final-delete[mark=stop]": 3, "case": 8}


def test_a_metric_study_leaves_duplicates_of_source_and_reference_out(tmp_path: Path) -> None:
    file = tmp_path / "d.tsv"
    lines = [f"Satz Nummer {number % 8}.\tSentence number {number % 5}.\tA sentence." for number in range(12)]
    file.write_text("\n".join(["source\treference\ttranslation", *lines, ""]), "utf-8")
    data = read(str(file), language_pair="de-en")
    how = {"suite": "case[level=1]", "deduplicate": True, "resamples": 100, "engine": Engine(quiet=True)}
    for side, texts in (("source", 5), ("reference", 5)):
        run = metric(scorers="chrf", data=data, out=tmp_path / side, side=side, **how)  # type: ignore[arg-type]
        assert run.segments.height == run.variants.height == texts
    with pytest.raises(UserError, match=r"deduplicate.* is for texts that are judged against themselves"):
        metric(scorers="chrf", data=data, out=tmp_path / "other", **how)  # type: ignore[arg-type]
