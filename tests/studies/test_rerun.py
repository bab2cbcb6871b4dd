"""What a repetition says: the numbers that differ, and what else is different."""

from pathlib import Path

import polars as pl
import pytest

from babelquake.runs.measures import Kind, Measure, measures_frame
from babelquake.runs.run import Run
from babelquake.studies.rerun import differences

ROBUST = Kind("robust", unit="%", better="up")


def run(folder: Path, value: float = 90.0, p: float = 0.2, **changes: object) -> Run:
    made = Run.resume(folder, "mt", {"data": changes.get("data", "d.de-en#1")})
    made.info.versions |= {"numpy": str(changes.get("numpy", "2.0"))}
    made.info.signatures = {"scorer chrf": str(changes.get("scorer", "nrefs:1"))}
    measures = [
        Measure(ROBUST, value, n=9, system="s", scorer="chrf", perturbation="case", p=p, p_corrected=p),
        Measure(ROBUST, 80.0, n=9, system="t", scorer="chrf", perturbation="case"),
    ]
    return made.finish(measures_frame(measures).with_columns(study=pl.lit("mt")))


def test_equal_runs_are_the_same_and_nothing_is_blamed(tmp_path: Path) -> None:
    found = differences(run(tmp_path / "a"), run(tmp_path / "b"))
    assert found.same and found.measures == 2 and found.causes == ()


@pytest.mark.parametrize(
    ("change", "blamed"),
    [
        ({"numpy": "2.9"}, "version of numpy: 2.0 then, 2.9 now"),
        ({"scorer": "nrefs:2"}, "signature of scorer chrf: nrefs:1 then, nrefs:2 now"),
        ({"data": "d.de-en#2"}, "data: d.de-en#1 then, d.de-en#2 now"),
    ],
)
def test_numbers_that_differ_come_with_what_else_is_different(
    change: dict[str, str], blamed: str, tmp_path: Path
) -> None:
    found = differences(run(tmp_path / "a"), run(tmp_path / "b", 91.0, 0.01, **change))
    assert found.causes == (blamed,)
    assert found.numbers == (
        "s chrf case robust: value was 90.0, is 91.0",
        "s chrf case robust: p was 0.2, is 0.01",
        "s chrf case robust: p_corrected was 0.2, is 0.01",
    )


def test_a_measure_of_one_run_alone_is_named(tmp_path: Path) -> None:
    old, new = run(tmp_path / "a"), run(tmp_path / "b")
    new.finish(new.measures.head(1))
    assert differences(old, new).numbers == (f"t chrf case robust: only in {old.folder}",)
