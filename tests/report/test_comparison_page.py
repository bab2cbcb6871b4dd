"""Two runs of one study, old against new."""

from pathlib import Path

from babelquake.report.comparison_chart import versus_heat
from babelquake.report.comparison_page import comparison_page
from babelquake.report.html import render
from babelquake.runs.run import Run
from babelquake.studies.compare import compare

from .conftest import mt_run, new, old


def two(folder: Path) -> tuple[Run, Run]:
    """A good system's run, and that of one that knows no typos."""
    before, after = (mt_run(folder / name, systems=[system]) for name, system in (("before", new), ("after", old)))
    return before, after


def test_a_comparison_opens_with_its_verdict_and_the_gate(tmp_path: Path) -> None:
    before, after = two(tmp_path)
    page = comparison_page(before, after, compare(before, after))
    assert not page.passed and any(sentence.weight == "alarm" for sentence in page.why)
    assert page.headline.first.startswith("after is worse ")
    assert comparison_page(after, before, compare(after, before)).passed
    shown = render([before, after], page)
    assert (
        shown.index("Is after as good as before?")
        < shown.index("Gate: fail")
        < shown.index("Broke in after")
        < shown.index("All measures")
        < shown.index("How robust are these translation systems?")
    )


def test_examples_that_broke_show_what_both_runs_say(tmp_path: Path) -> None:
    before, after = two(tmp_path)
    page = comparison_page(before, after, compare(before, after))
    assert page.broke and len({flip.label for flip in page.broke}) == len(page.broke)
    assert all(flip.old != flip.new for flip in page.broke)
    assert page.broke[0].new in set(after.table("translations")["translation"])
    lost = next(table for table in page.tables if table.title.startswith("Broke most"))
    assert lost.columns[3:6] == ("before", "after", "better by") and lost.rows[0][5].startswith("−")


def test_what_did_not_change_is_folded(tmp_path: Path) -> None:
    before, after = two(tmp_path)
    found = compare(before, after)
    page = comparison_page(before, after, found)
    assert page.chart is not None and page.chart.title == "What changed, before → after (BLEU)"
    assert "Clean text" in str(page.chart.spec())
    same = [table for table in page.tables if table.title == "Not significantly different"]
    assert sum(len(table.rows) for table in same) == len(found.of("same"))
    assert {row[0] for row in page.tables[0].rows} >= {"WORSE"} and "" not in {row[0] for row in page.tables[0].rows}


def test_a_run_against_itself_is_the_same(runs: dict[str, Run]) -> None:
    page = comparison_page(runs["mt"], runs["mt"], compare(runs["mt"], runs["mt"]))
    assert page.passed and not page.broke and not page.mended
    assert page.headline.first.startswith("No significant difference")


def test_both_runs_stand_in_one_heat_map(tmp_path: Path) -> None:
    before, after = (mt_run(tmp_path / name, systems=[system]) for name, system in (("before", new), ("after", old)))
    changes = compare(before, after)
    maps = versus_heat(before, after, changes)
    assert {heat.title.partition(" (")[0] for heat in maps} == {"ROBUST", "CONSIS", "% inconsistent"}
    heat = next(heat for heat in maps if heat.title.startswith("ROBUST"))
    assert heat.names == ("before", "after") and " → " in heat.subjects[0]
    _, ((first, second, gain), *_) = heat.rows[0]
    assert gain.tone == "worse" and gain.text.startswith("−") and 0 <= first.share <= second.share <= 1
    untested = [tile for one in versus_heat(before, after, []) for _, cells in one.rows for tile in cells[0][2:]]
    assert {(tile.tone, tile.share) for tile in untested} == {("plain", 0.0)}, (
        "only significant differences have a colour"
    )
    page = render([before, after], comparison_page(before, after, changes))
    assert page.index('<table class="both">') < page.index("How robust are these translation systems?")


def test_a_probe_s_drop_is_neither_better_nor_worse(runs: dict[str, Run]) -> None:
    (heat, *_) = versus_heat(runs["qe"], runs["qe"], [])
    assert {tile.tone for _, cells in heat.rows for tiles in cells for tile in tiles} == {"plain"}
