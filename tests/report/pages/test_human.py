"""The report page of human ratings."""

from pathlib import Path

import pytest
from tests.studies.human.test_findings import campaign

from babelquake.data.ratings import Ratings, ratings_frame
from babelquake.report.html import write_html
from babelquake.report.pages import tables, views
from babelquake.report.verdict import verdict
from babelquake.runs.run import Run
from babelquake.studies.human.study import human


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    ratings = Ratings("ratings.tsv", ratings_frame(campaign()))
    return human(data=ratings, out=tmp_path_factory.mktemp("runs") / "human", exclude="hits")


def test_the_verdict_names_the_best_and_the_doubts(run: Run) -> None:
    said = verdict(run)
    assert said[0].startswith("People rate A best")
    assert "75 % of 4 tasks passed quality control." in said
    assert any("Krippendorff" in sentence for sentence in said)


def test_nobody_is_ranked_by_what_quality_control_left_of_the_ratings(tmp_path: Path) -> None:
    """14 of 17 ratings were rejected, and 'Vendor B, rank 1, alone' was the answer."""
    columns = campaign()
    careless = [name != "a0" for name in columns["annotator"]]
    raw = [
        float(37 * place % 101) if who else given
        for place, (who, given) in enumerate(zip(careless, columns["raw"], strict=False))
    ]
    frame = ratings_frame({**columns, "raw": raw})
    run = human(data=Ratings("ratings.tsv", frame), out=tmp_path / "run", exclude="hits")
    said = verdict(run)
    assert "rejected 384 of 512 ratings" in said[0] and run.info.findings[0].weight == "alarm"
    assert not any("best" in sentence or "in front" in sentence for sentence in said)
    ranking = next(table for table in tables(run) if table.title.startswith("Ranking"))
    assert all(row[0] == "–" for row in ranking.rows) and "rejected" in ranking.note


def test_tables(run: Run) -> None:
    found = {table.title: table for table in tables(run)}
    assert list(found) == ["Ranking · de-en", "Rank-sum tests · de-en", "Agreement between annotators", "Annotators"]
    assert [row[:2] for row in found["Ranking · de-en"].rows] == [("1", "A"), ("2", "B")]
    assert [row[9] for row in found["Annotators"].rows] == ["passed", "passed", "passed", "failed"]
    assert all(len(row) == len(table.columns) for table in found.values() for row in table.rows)


def test_charts_have_words(run: Run) -> None:
    (view,) = views(run)
    assert [chart.name for chart in view.charts] == ["ratings", "annotators"]
    assert all(chart.description for chart in view.charts)
    assert all(chart.spec()["width"] == "container" for chart in view.charts)


def test_the_report_is_written(run: Run, tmp_path: Path) -> None:
    write_html([run], tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "What do people say about these translations?" in page
