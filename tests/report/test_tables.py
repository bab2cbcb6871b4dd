from pathlib import Path

import pytest

from babelquake.errors import UserError
from babelquake.report.page import tables
from babelquake.report.table import Table
from babelquake.runs.measures import measures_frame
from babelquake.runs.run import Run


def titled(run: Run, title: str) -> Table:
    return next(table for table in tables(run) if table.title.startswith(title))


def test_every_row_is_as_wide_as_its_header(runs: dict[str, Run]) -> None:
    for run in runs.values():
        assert tables(run)
        for table in tables(run):
            assert table.rows
            assert {len(row) for row in table.rows} == {len(table.columns)}


def test_translation_lines_compare_systems_within_each_perturbation(runs: dict[str, Run]) -> None:
    table = titled(runs["mt"], "bleu")
    assert [row[:2] for row in table.rows[:2]] == [("misspell 0.1 of words", "new"), ("misspell 0.1 of words", "old")]
    assert table.rows[1][6] == "−6.4**"


def test_sensitivity_names_meaning_and_significance(runs: dict[str, Run]) -> None:
    lines = titled(runs["metric"], "Sensitivity").rows
    assert ("bleu", "final-delete", "preserving", "20", "", "90.00", "81.00", "−9.00**", "[−10.00, −8.00]") in lines


def test_harmless_changes_are_listed_worst_first(runs: dict[str, Run]) -> None:
    lines = titled(runs["metric"], "Harmless").rows
    assert [line[3] for line in lines] == ["90.0", "20.0"]


def test_harmless_changes_of_several_levels_stay_apart(tmp_path: Path) -> None:
    rows = [
        {"study": "metric", "scorer": "chrf", "perturbation": "misspell", "level": level,
         "measure": "harmless_costs_more", "value": 100 * level, "n": 5}
        for level in (0.1, 0.2)
    ]  # fmt: skip
    run = Run.resume(tmp_path / "r", "metric", {}).finish(measures_frame(rows))
    assert [line[2:4] for line in titled(run, "Harmless").rows] == [
        ("misspell 0.2 of words", "20.0"),
        ("misspell 0.1 of words", "10.0"),
    ]


def test_agreement_has_noise_levels_across_and_the_average_first(runs: dict[str, Run]) -> None:
    table = titled(runs["metric"], "Agreement with humans: DARR Kendall")
    assert table.title.endswith("average")
    assert table.columns == ("perturbation", "scorer", "0", "0.1", "0.3")
    assert table.rows[1] == ("visual", "bleu", "0.300", "0.255", "0.165")


def test_challenge_sets_show_phenomena(runs: dict[str, Run]) -> None:
    assert ("articles", "20", "75.0") in titled(runs["challenge"], "Detection").rows


def test_quality_ranks_models_as_kanojia_table_4(runs: dict[str, Run]) -> None:
    table = titled(runs["qe"], "Quality estimation")
    assert table.rows[0] == ("tq-mono", "0.8000", "0.7500", "0.5250", "+0.2250", "0.600", "1", "1")
    assert "Agreement of the two rankings: 1.00, p = 0.03." in table.note


def test_probes_keep_the_papers_order_and_titles(runs: dict[str, Run]) -> None:
    first = [row[0] for row in titled(runs["qe"], "Drop").rows]
    assert first[0] == "Removal of punctuation (MPP1)"
    assert first[-1] == "Antonyms (MAP7)"


def test_flags_are_told(runs: dict[str, Run]) -> None:
    assert titled(runs["qe"], "Flags").rows[0][0] == "sentsim"


def test_an_unknown_study_is_refused(tmp_path: object) -> None:
    run = Run.resume(f"{tmp_path}/r", "astrology", {})
    with pytest.raises(UserError, match="astrology"):
        tables(run)
