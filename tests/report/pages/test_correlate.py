"""The page of `correlate` is the same, byte for byte, each time it is drawn."""

from pathlib import Path

from babelquake.engine import Engine
from babelquake.report.pages import views
from babelquake.studies.correlate.study import correlate

from ..conftest import rated


def test_points_stand_in_the_order_of_the_data(tmp_path: Path) -> None:
    run = correlate(scorers=["chrf"], data=rated(400), out=tmp_path / "r", resamples=200, engine=Engine(quiet=True))
    (scatter,) = [chart for view in views(run) for chart in view.charts if chart.name == "scatter-chrf"]
    (points,) = scatter.spec()["datasets"].values()
    assert len(points) > 100 and [one["row"] for one in points] == sorted(one["row"] for one in points)
