"""Two runs of one study, old against new."""

from pathlib import Path

from babelquake.report.html import render
from babelquake.report.versus import versus_tables
from babelquake.runs.run import Run
from babelquake.studies.compare import compare

from .conftest import mt_run, new, old


def test_measures_and_segments_stand_side_by_side(runs: dict[str, Run], tmp_path: Path) -> None:
    before, after = (mt_run(tmp_path / name, systems=[system]) for name, system in (("before", new), ("after", old)))
    tables = versus_tables(before, after, compare(before, after))
    assert tables[0].title == "after against before" and tables[0].rows[0][0] == "FELL"
    lost = next(table for table in tables if table.title.startswith("Lost most"))
    assert lost.columns[3:6] == ("before", "after", "better by") and lost.rows[0][5].startswith("−")
    assert lost.rows[0][6] != lost.rows[0][7]
    page = render([before, after], tables)
    assert page.index("after against before") < page.index("How sturdy are these translation systems?")


def test_a_run_against_itself_parts_nowhere(runs: dict[str, Run]) -> None:
    tables = versus_tables(runs["mt"], runs["mt"], compare(runs["mt"], runs["mt"]))
    assert len(tables) == 1 and not any(row[0] for row in tables[0].rows)
