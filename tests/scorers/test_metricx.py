"""MetricX equals the repository's model on a small checkpoint, for both years' inputs."""

from pathlib import Path

import pytest
from tests.scorers.parity import CLOSE, Made, module, off_by, official

from babelquake.errors import UserError
from babelquake.scorers import Questions, Scorer, scorer


@pytest.fixture
def made(small: Made, monkeypatch: pytest.MonkeyPatch) -> Scorer:
    from babelquake.scorers import metricx

    monkeypatch.setattr(metricx, "LONGEST", dict.fromkeys((23, 24), module("official_metricx").LONGEST))
    return small("metricx", "metricx")


@pytest.mark.parametrize("year", [23, 24])
@pytest.mark.parametrize("qe", [False, True])
def test_scores_are_the_repositorys(year: int, qe: bool, made: Path) -> None:
    inputs = "source" if qe else "all"
    found = scorer("metricx", model=made, tokenizer=made, year=year, inputs=inputs)
    assert off_by(found, official("metricx")["scores"][f"metricx-{year}{'-qe' if qe else ''}"]) < CLOSE


def test_inputs_are_written_as_each_year_wants_them(made: Path) -> None:
    segment = Questions(["t"], [["r"]], ["s"])
    written = {
        (year, inputs): scorer("metricx", model=made, year=year, inputs=inputs).written(segment, 0)
        for year in (23, 24)
        for inputs in ("all", "source")
    }
    assert written == {
        (23, "all"): "candidate: t reference: r",
        (23, "source"): "candidate: t source: s",
        (24, "all"): "source: s candidate: t reference: r",
        (24, "source"): "source: s candidate: t",
    }


def test_lower_is_better_and_names_say_the_year(made: Path) -> None:
    assert scorer("metricx", model=made, year=24).higher_is_better is False
    with pytest.raises(UserError, match="is not in its name"):
        scorer("metricx", model=made)
