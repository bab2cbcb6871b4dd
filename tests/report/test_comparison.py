"""Two runs of one study, old against new: for people, for pull requests, and as a page."""

from dataclasses import replace
from pathlib import Path

import pytest

from babelquake.report.comparison import comparison_markdown, comparison_page, comparison_table, versus_heat
from babelquake.report.html import render
from babelquake.runs.run import Run
from babelquake.studies.compare import compare
from babelquake.studies.comparison import Change, Comparison

from .conftest import mt_run, new, old

BETTER = Change(
    "de-en",
    "new",
    "chrf",
    "misspell",
    0.1,
    "robust",
    80.0,
    84.5,
    "better",
    0.0001,
    0.0004,
    visible=2.0,
    paired=True,
    label="quality kept (ROBUST)",
)
WORSE = replace(
    BETTER,
    perturbation="case",
    level=None,
    measure="consis",
    label="CONSIS",
    new=70.0,
    outcome="worse",
    p=0.001,
    p_corrected=0.013,
)
SAME = replace(BETTER, new=80.0, outcome="same", p=1.0, p_corrected=1.0, visible=None)
NEARLY = replace(SAME, new=80.3, visible=1.4, p=0.4, p_corrected=0.7)
UNTESTED = replace(WORSE, outcome="cannot be tested", p=0.25, p_corrected=None, visible=None, note="5 segments.")
GONE = replace(WORSE, new=None, outcome="collapsed", p=None, p_corrected=None, visible=None, note="It reaches zero.")


def of(*changes: Change, correction: str = "max-t", alpha: float = 0.05) -> Comparison:
    return Comparison(changes, alpha, correction)


def test_what_got_worse_comes_first_and_p_is_never_nought() -> None:
    table = comparison_table(of(BETTER, WORSE), "main", "branch")
    assert table.title == "branch against main"
    assert table.rows == (
        (
            "WORSE",
            "de-en new",
            "chrf",
            "odd capitals",
            "CONSIS",
            "80.00",
            "70.00",
            "−10.00",
            "2.00",
            ".013",
        ),
        (
            "better",
            "de-en new",
            "chrf",
            "typos (10 % of words)",
            "quality kept (ROBUST)",
            "80.00",
            "84.50",
            "+4.50",
            "2.00",
            "< .001",
        ),
    )
    assert {len(row) for row in table.rows} == {len(table.columns)}


def test_unchanged_rows_are_folded_away_and_counted() -> None:
    table = comparison_table(of(*[SAME] * 38, NEARLY, BETTER), "main", "branch")
    assert [row[0] for row in table.rows] == ["better", ""]
    assert "38 of 40" in table.note


@pytest.mark.parametrize(
    ("correction", "words"),
    [("max-t", "step-down max-T over the whole comparison"), ("bh", "Benjamini–Hochberg"), ("none", "uncorrected")],
)
def test_the_note_names_test_correction_and_level(correction: str, words: str) -> None:
    note = comparison_table(of(BETTER, correction=correction, alpha=0.01), "main", "branch").note
    assert words in note and "paired tests" in note and "α = 0.01" in note


def test_what_cannot_be_tested_is_listed_and_what_has_collapsed_has_no_new_value() -> None:
    table = comparison_table(of(UNTESTED, GONE), "main", "branch")
    assert [(row[0], row[6], row[-1]) for row in table.rows] == [("GONE", "", ""), ("too few", "70.00", "")]


def test_a_pull_request_gets_the_verdict_first() -> None:
    text = comparison_markdown(of(BETTER, WORSE), "main|1", "branch")
    assert text.index("Worse: 1 of 2") < text.index("Better: 1 of 2") < text.index("| typos (10 % of words) |")
    assert "| main\\|1 | branch |" in text
    assert "| WORSE |" not in comparison_markdown(of(SAME), "main", "branch")


def test_systems_go_by_their_short_names_and_one_alone_need_not_be_said() -> None:
    long = [replace(change, system="bundled[model=de-en-bpe]") for change in (BETTER, WORSE)]
    table = comparison_table(of(*long), "main", "branch")
    assert {row[1] for row in table.rows} == {"de-en de-en-bpe"} and table.spare == ("system", "main", "branch")
    assert comparison_table(of(WORSE, long[0]), "main", "branch").spare == ("main", "branch")


def two(folder: Path) -> tuple[Run, Run]:
    """A good system's run, and that of one that knows no typos."""
    before, after = (mt_run(folder / name, systems=[system]) for name, system in (("before", new), ("after", old)))
    return before, after


@pytest.mark.slow
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


@pytest.mark.slow
def test_examples_that_broke_show_what_both_runs_say(tmp_path: Path) -> None:
    before, after = two(tmp_path)
    page = comparison_page(before, after, compare(before, after))
    assert page.broke and len({flip.label for flip in page.broke}) == len(page.broke)
    assert all(flip.old != flip.new for flip in page.broke)
    assert page.broke[0].new in set(after.table("translations")["translation"])
    lost = next(table for table in page.tables if table.title.startswith("Broke most"))
    assert lost.columns[3:6] == ("before", "after", "better by") and lost.rows[0][5].startswith("−")


@pytest.mark.slow
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


@pytest.mark.slow
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
