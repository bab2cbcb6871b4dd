"""Texts out, scores in: a study with imported scores equals the study with the scorer itself."""

from pathlib import Path

import polars as pl
import pytest

from babelquake.data import read
from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.scorers import scorer
from babelquake.studies import plans
from babelquake.studies.exchange import MANIFEST, TABLE, TEXTS, imported_scorers
from babelquake.studies.metric.study import metric
from babelquake.studies.qe.study import qe

ROWS = [
    ("Das Haus ist alt.", "The house is old.", "The house is old.", 90),
    ("Der Hund schläft 😴.", "The dog sleeps 😴.", "The dog is asleep 😴.", 80),
    ("Wir gehen\tnach Hause.", "We go\thome now.", "We are going\thome.", 75),
    ("Nein.", "No never.", "No.", 20),
]


@pytest.fixture
def data() -> pl.DataFrame:
    names = ["source", "translation", "reference", "score"]
    return pl.DataFrame(ROWS, schema=names, orient="row").with_columns(language_pair=pl.lit("de-en"))


def judged(folder: Path, name: str, spec: str) -> None:
    """Judge the exported lines with a scorer, as somebody else would."""
    rows = read(folder / TEXTS).segments
    columns = (rows[column].to_list() for column in ("translation", "references", "source"))
    scores = scorer(spec).segments(*columns)
    (folder / f"{name}.txt").write_text("".join(f"{score!r}\n" for score in scores.tolist()))


@pytest.mark.parametrize("side", ["translation", "reference", "source"])
def test_a_metric_elsewhere_has_the_numbers_of_the_metric_here(tmp_path: Path, data: pl.DataFrame, side: str) -> None:
    suite, folder = ["misspell[level=0.2]", "final-delete"], tmp_path / "out[1]"
    path, count = plans.metric(data=data, suite=suite, side=side, seed=3).export(folder)  # type: ignore[arg-type]
    assert path.read_text().count("\n") == count > len(ROWS)
    assert (folder / TABLE).read_text().count("\n") == count + 1
    judged(folder, "mine", "ter")
    options = {"side": side, "seed": 3, "resamples": 100}
    here = metric(
        scorers="ter[name=mine]", data=data, suite=suite, out=tmp_path / "here", engine=Engine(quiet=True), **options
    )  # type: ignore[arg-type]
    there = metric(
        scorers=[f"{imported_scorers(folder)[0][:-1]},higher=false]"],
        data=data,
        suite=suite,
        out=tmp_path / "there",
        engine=Engine(quiet=True),
        **options,  # type: ignore[arg-type]
    )
    scores = [run.scores.drop("statistics", strict=False) for run in (here, there)]
    assert scores[0].equals(scores[1])


def test_a_qe_model_elsewhere_judges_clean_and_probed_texts(tmp_path: Path, data: pl.DataFrame) -> None:
    material = data.drop("reference")
    plans.qe(data=material, suite=["word-drop", "upper-words"], threshold=70, seed=1).export(tmp_path / "x")
    rows = read(tmp_path / "x" / TEXTS).segments
    assert set(data["translation"]) <= set(rows["translation"])
    assert rows["references"].null_count() == rows.height
    table = rows.select("source", "translation", score=pl.col("translation").str.len_chars())
    table.write_ndjson(tmp_path / "x" / "length.jsonl")
    run = qe(
        scorers=imported_scorers(tmp_path / "x"),
        data=material,
        suite=["word-drop", "upper-words"],
        out=tmp_path / "run",
        seed=1,
        resamples=100,
        engine=Engine(quiet=True),
    )
    assert set(run.measures["scorer"].drop_nulls()) == {"length"}
    assert "drop" in set(run.measures["measure"])


def test_what_is_missing_or_foreign_is_said(tmp_path: Path, data: pl.DataFrame) -> None:
    with pytest.raises(UserError, match=r"has no texts\.jsonl. Export it first"):
        imported_scorers(tmp_path)
    plans.qe(data=data, suite=["word-drop"]).export(tmp_path)
    with pytest.raises(UserError, match="no scores yet"):
        imported_scorers(tmp_path)
    (tmp_path / "mine.txt").write_text("1\n")
    plans.qe(data=data, suite=["word-drop"]).export(tmp_path)
    with pytest.raises(UserError, match=r"mine\.txt, scores of other texts"):
        plans.qe(data=data, suite=["word-repeat"]).export(tmp_path)
    with pytest.raises(UserError, match=r"mine\.txt has 1 scores where texts\.jsonl have"):
        scorer(imported_scorers(tmp_path)[0]).segments(["a"])
    (tmp_path / MANIFEST).unlink()
    with pytest.raises(UserError, match=r"texts\.jsonl was not exported by"):
        plans.qe(data=data, suite=["word-drop"]).export(tmp_path)
