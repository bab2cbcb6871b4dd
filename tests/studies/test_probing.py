"""Perturb, judge, sum up: block by block, and the same however often the work is cut short."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from babelquake.cli.app import app
from babelquake.data import Dataset
from babelquake.engine import Engine
from babelquake.perturb.suite import Suite, suite
from babelquake.runs.tables import rows_of
from babelquake.scorers import scorer
from babelquake.studies import variants
from babelquake.studies.execution import execute
from babelquake.studies.plan import Material, Plan
from babelquake.studies.qe import QeOptions
from babelquake.studies.qe.study import QE, judged_segments
from babelquake.studies.variants import vocabularies

CHANGES = "upper-words[level=0.5],word-drop,negation-remove"


def material(data: Dataset) -> Material:
    return Material(judged_segments(data), "translation", "target")


def probed(data: Dataset, out: Path, of: Material | None = None) -> dict[str, pl.DataFrame]:
    return studied(data, out, of or material(data), suite(CHANGES, 3), ["chrf", "bleu"])


def studied(data: Dataset, out: Path, of: Material, changes: Suite, names: list[str]) -> dict[str, pl.DataFrame]:
    options = QeOptions(data=data, out=out, seed=4, engine=Engine(quiet=True))
    words = vocabularies(of.segments, "text", changes, of.lang)
    plan = Plan("qe", options, data, [*map(scorer, names)], changes, of, words)
    with QE.session(plan) as session:
        found = execute(plan, session)
        return {name: table.collect() for name, table in found.items()}


def test_every_text_is_judged_as_sacrebleu_would(judged: Dataset, tmp_path: Path) -> None:
    found = probed(judged, tmp_path / "run")
    segments = judged_segments(judged)
    scores = found["scores"].filter(pl.col("scorer") == "chrf")
    assert scores.height == segments.height + found["variants"].height
    keys = ["row", "perturbation", "level", "replicate"]
    noisy = scores.join(found["variants"], on=keys, nulls_equal=True, suffix="_v").join(segments, on="row", suffix="_s")
    expected = scorer("chrf").segments(noisy["text"].to_list(), noisy["references"].to_list())
    np.testing.assert_allclose(noisy["score"], expected)
    assert noisy.height == found["variants"].height


def test_replicates_are_taken_together(judged: Dataset, tmp_path: Path) -> None:
    found = probed(judged, tmp_path / "run")
    keys = ["scorer", "row", "perturbation", "level"]
    means = found["scores"].group_by(keys).agg(mean=pl.col("score").mean(), count=pl.len())
    joined = found["sums"].join(means, on=keys, nulls_equal=True)
    assert joined.height == found["sums"].height
    np.testing.assert_allclose(joined["score"], joined["mean"])
    assert (joined["replicates"] == joined["count"]).all()
    assert set(joined.filter(pl.col("perturbation") == "word-drop")["replicates"]) == {3}
    assert set(joined.filter(pl.col("perturbation") == "negation-remove")["replicates"]) == {1}
    clean = found["sums"].filter((pl.col("scorer") == "bleu") & pl.col("perturbation").is_null())
    batch = material(judged).batch(judged_segments(judged), judged_segments(judged)["text"].to_list())
    np.testing.assert_allclose(rows_of(clean["statistics"]), scorer("bleu").statistics(batch))


def test_a_probe_has_rows_only_where_it_applies(judged: Dataset, tmp_path: Path) -> None:
    variants = probed(judged, tmp_path / "run")["variants"]
    assert set(variants.filter(pl.col("perturbation") == "negation-remove")["row"]) == {0}


def test_the_size_of_blocks_changes_nothing(judged: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = probed(judged, tmp_path / "whole")
    monkeypatch.setattr(variants, "BLOCK_TEXTS", 1)
    pieces = probed(judged, tmp_path / "pieces")
    for name, order in (
        ("variants", ["row", "perturbation", "replicate"]),
        ("scores", ["scorer", "row", "perturbation", "replicate"]),
    ):
        assert whole[name].sort(order).equals(pieces[name].sort(order)), name


def test_texts_that_came_with_the_data_are_judged_as_they_are(judged: Dataset, tmp_path: Path) -> None:
    segments = judged_segments(judged)
    shouted = [text.upper() for text in segments["text"]]
    given = Material(segments, "reference", "target", given={("visual", 0.3): shouted})
    found = studied(judged, tmp_path / "run", given, suite("visual[level=0|0.3]"), ["chrf"])["variants"]
    assert found.filter(pl.col("level") == 0)["text"].to_list() == segments["text"].to_list()
    assert found.filter(pl.col("level") == 0.3)["text"].to_list() == shouted


KILLED = """
import os, signal, sys
from babelquake.cli.app import app
from babelquake.runs import tables
from babelquake.studies import variants

variants.BLOCK_TEXTS = 20
store, left = tables.store_table, [5]

def counted(table, path):
    left[0] -= 1
    if left[0] == 0:
        table.write_parquet(path.with_suffix(".writing"))
        os.kill(os.getpid(), signal.SIGKILL)
    store(table, path)

tables.store_table = counted
app(sys.argv[1:])
"""


@pytest.mark.parametrize("command", ["qe", pytest.param("metric", marks=pytest.mark.slow)])
def test_a_killed_run_ends_like_an_undisturbed_one(
    judged: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    words = [command, "--scorer", "chrf", "--scorer", "bleu", "--replicates", "2", "--resamples", "100"]
    words += ["--data", str(tmp_path / "news.de-en.tsv"), "--cache", "none", "--out"]
    if command == "metric":
        words[1:1] = ["--side", "source", "--suite", "misspell[level=0.3],case"]
    monkeypatch.setattr(variants, "BLOCK_TEXTS", 20)

    def undisturbed(out: str) -> None:
        assert CliRunner().invoke(app, [*words, str(tmp_path / out)]).exit_code == 0

    undisturbed("whole")
    done = subprocess.run(
        [sys.executable, "-c", KILLED, *words, str(tmp_path / "cut")], capture_output=True, check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert len(list((tmp_path / "cut" / ".parts").rglob("*.parquet"))) == 4
    undisturbed("cut")
    for table in ("measures.csv", "scores.parquet", "variants.parquet", "sums.parquet"):
        assert (tmp_path / "cut" / table).read_bytes() == (tmp_path / "whole" / table).read_bytes(), table
    assert not (tmp_path / "cut" / ".parts").exists()
