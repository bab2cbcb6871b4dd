"""Two runs of one study, old against new."""

from pathlib import Path

from babelquake.report.comparison_heatmap import versus_heat
from babelquake.report.comparison_page import versus_tables
from babelquake.report.html import render
from babelquake.runs.run import Run
from babelquake.studies.compare import compare

from .conftest import mt_run, new, old


def test_measures_and_segments_stand_side_by_side(runs: dict[str, Run], tmp_path: Path) -> None:
    before, after = (mt_run(tmp_path / name, systems=[system]) for name, system in (("before", new), ("after", old)))
    tables = versus_tables(before, after, compare(before, after))
    assert tables[0].title == "after against before" and tables[0].rows[0][0] == "WORSE"
    lost = next(table for table in tables if table.title.startswith("Lost most"))
    assert lost.columns[3:6] == ("before", "after", "better by") and lost.rows[0][5].startswith("−")
    assert lost.rows[0][6] != lost.rows[0][7]
    page = render([before, after], tables)
    assert page.index("after against before") < page.index("How robust are these translation systems?")


def test_a_run_against_itself_parts_nowhere(runs: dict[str, Run]) -> None:
    tables = versus_tables(runs["mt"], runs["mt"], compare(runs["mt"], runs["mt"]))
    assert len(tables) == 1 and not any(row[0] for row in tables[0].rows)


def test_both_runs_stand_in_one_heat_map(tmp_path: Path) -> None:
    before, after = (mt_run(tmp_path / name, systems=[system]) for name, system in (("before", new), ("after", old)))
    changes = compare(before, after)
    maps = versus_heat(before, after, changes)
    assert {heat.title.partition(" (")[0] for heat in maps} == {"ROBUST", "CONSIS", "% inconsistent"}
    heat = next(heat for heat in maps if heat.title.startswith("ROBUST"))
    assert heat.names == ("before", "after") and " → " in heat.subjects[0]
    _, ((first, second, gain), *_) = heat.rows[0]
    assert gain.tone == "worse" and gain.text.startswith("−") and 0 <= first.share <= second.share <= 1
    page = render([before, after], versus_tables(before, after, changes), maps)
    assert page.index('<table class="both">') < page.index("How robust are these translation systems?")


def test_a_probe_s_drop_is_neither_better_nor_worse(runs: dict[str, Run]) -> None:
    (heat, *_) = versus_heat(runs["qe"], runs["qe"], [])
    assert {tile.tone for _, cells in heat.rows for tiles in cells for tile in tiles} == {"plain"}
