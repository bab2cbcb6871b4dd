"""Run folders of the first version are read like today's."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from babelquake.data import Dataset, read
from babelquake.engine import Engine
from babelquake.runs.run import Run
from babelquake.studies.compare import compare
from babelquake.studies.metric.study import metric
from babelquake.studies.mt.study import mt
from babelquake.studies.qe.study import qe

SENTENCES = ["The heavy rain falls on the long road", "nobody saw it", "A dog barked at Anna", "it is late today"]
MAKE: dict[str, Callable[[Dataset, Path], Run]] = {
    "mt": lambda data, out: mt(
        systems=["command[cmd=cat]"],
        data=data,
        suite="case[level=0.2]",
        scorers=["chrf"],
        out=out,
        resamples=100,
        engine=Engine(quiet=True),
    ),
    "metric": lambda data, out: metric(
        scorers=["chrf"], data=data, suite="misspell[level=0.1]", out=out, resamples=100, engine=Engine(quiet=True)
    ),
    "qe": lambda data, out: qe(
        scorers=["chrf"],
        data=data,
        suite="lower-words,word-drop",
        out=out,
        replicates=2,
        resamples=100,
        engine=Engine(quiet=True),
    ),
}


@pytest.fixture
def data(tmp_path: Path) -> Dataset:
    rows = [f"{text} {row}.\t{text.lower()} {row}\t{text} {row}" for row, text in enumerate(SENTENCES * 4)]
    file = tmp_path / "d.tsv"
    file.write_text("source\treference\ttranslation\n" + "\n".join(rows) + "\n", "utf-8")
    return read(file)


def aged(run: Run) -> Run:
    """The run as the first version left it: no table says what was really changed, run.json lists no files."""
    run.info.files = {}
    run.save()
    for file in run.folder.glob("*.parquet"):
        pl.read_parquet(file).drop("changed", strict=False).write_parquet(file)
    return Run.open(run.folder)


@pytest.mark.parametrize("study", MAKE)
def test_what_was_really_changed_is_found_again(study: str, data: Dataset, tmp_path: Path) -> None:
    new = MAKE[study](data, tmp_path / "run")
    tables = [name for name in ("variants", "translations", "sums") if new.has(name)]
    before = {name: new.table(name) for name in tables}
    assert set(before["variants"]["changed"]) == {True, False}, "the test is to have texts of both kinds"
    changes = compare(new, new)
    old = aged(new)
    assert "changed" not in pl.read_parquet(old.path("variants")).columns
    for name, table in before.items():
        assert old.table(name).select(table.columns).equals(table), name
    assert compare(old, old) == changes
