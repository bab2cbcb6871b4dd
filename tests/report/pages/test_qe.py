"""What a QE run's charts show."""

from pathlib import Path

from tests.report.conftest import rated

from babelquake.engine import Engine
from babelquake.report.pages.qe import qe_views
from babelquake.studies.qe.study import qe


def test_one_model_alone_has_no_ranking(tmp_path: Path) -> None:
    """Its point would stand on axes without a scale."""
    data = rated(8)
    for scorers, ranked in ((["chrf"], False), (["chrf", "bleu"], True)):
        out = tmp_path / str(len(scorers))
        run = qe(
            scorers=scorers,
            data=data,
            suite="punct-remove,word-drop",
            out=out,
            replicates=1,
            resamples=200,
            engine=Engine(quiet=True),
        )
        assert ("ranking" in [chart.name for view in qe_views(run) for chart in view.charts]) is ranked
