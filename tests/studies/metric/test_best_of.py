"""Selection pressure: what picking by one scorer does to the others, and to people."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.report.pages import tables, views
from babelquake.report.verdict import verdict
from babelquake.runs.run import Run
from babelquake.studies.metric.measures import counts, picked
from babelquake.studies.metric.study import metric

from ..conftest import Write


def test_the_best_of_n_is_picked_as_often_as_draws_without_replacement_say() -> None:
    assert picked(np.array([3.0, 1.0, 2.0]), 1) == pytest.approx([1 / 3] * 3)
    assert picked(np.array([3.0, 1.0, 2.0]), 2) == pytest.approx([2 / 3, 0, 1 / 3])
    assert picked(np.array([3.0, 1.0, 2.0]), 3) == pytest.approx([1, 0, 0])
    assert picked(np.array([5.0, 5.0, 2.0]), 3) == pytest.approx([0.5, 0.5, 0])
    assert counts(6) == [1, 2, 4, 6] and counts(8) == [1, 2, 4, 8]


def length(translation: str) -> float:
    """The longer the better, whatever it says."""
    return float(len(translation))


def chosen(data: Any, out: Path, **options: Any) -> Run:
    given: dict[str, Any] = {"resamples": 100, "engine": Engine(quiet=True), "scorers": [length, "chrf"]} | options
    return metric(data=data, out=out, **given)


@pytest.fixture
def three_systems(write: Write) -> Any:
    """The longer a translation, the worse people find it."""
    rows: list[tuple[object, ...]] = []
    for number in range(8):
        reference = f"The tea number {number} is hot."
        for place, system in enumerate(("short", "long", "longest")):
            worse = " indeed" * (2 * place)
            rows.append(
                (f"Der Tee Nummer {number} ist heiß.", reference, reference[:-1] + worse + ".", system, 90 - 30 * place)
            )
    return write("source reference translation system score", rows)


def gains(run: Run, judge: str, level: float) -> dict[str, Any]:
    rows = run.measures.filter(
        pl.col("measure") == "best_of", pl.col("other").str.contains(judge), pl.col("level") == level
    )
    return rows.filter(pl.col("scorer").str.contains("length")).row(0, named=True)


def test_a_scorer_that_likes_length_picks_what_people_and_chrf_like_least(three_systems: Any, tmp_path: Path) -> None:
    run = chosen(three_systems, tmp_path / "run", best_of=3)
    assert gains(run, "length", 1)["value"] == pytest.approx(0)
    assert 0 < gains(run, "length", 2)["value"] < gains(run, "length", 3)["value"]
    spread = float(np.std([90, 60, 30]))
    assert gains(run, "people", 3)["value"] == pytest.approx(-30 / spread)
    assert gains(run, "chrf", 3)["high"] < 0
    assert any("best of 3" in sentence and "people" in sentence for sentence in verdict(run))
    assert any(table.title == "Selection pressure" for table in tables(run))
    assert any(chart.name.startswith("best-of") for view in views(run) for chart in view.charts)


def test_changed_versions_are_candidates_too(three_systems: Any, tmp_path: Path) -> None:
    run = chosen(three_systems, tmp_path / "run", best_of=6, suite="word-order,cut-short")
    rows = run.measures.filter(pl.col("measure") == "best_of")
    assert (
        set(rows["group"]) == {None, "given translations"}
        and rows.filter(pl.col("group").is_null())["level"].max() == 6
    )
    assert not rows.filter(pl.col("group").is_null(), pl.col("other") == "people").height
    harmful = run.measures.filter(pl.col("measure") == "picked_harmful", pl.col("scorer") == "chrf").sort("level")
    assert harmful["value"][0] == pytest.approx(200 / 3) and harmful["value"][-1] < 10


def test_too_few_candidates_are_an_error_that_names_the_suite(write: Write, tmp_path: Path) -> None:
    data = write("source reference translation", [("Eins.", "One.", "One!"), ("Zwei.", "Two.", "Two times.")])
    with pytest.raises(UserError, match="suite="):
        chosen(data, tmp_path / "run", best_of=4)
