"""Two runs side by side, for people and for pull requests."""

from dataclasses import replace

import pytest

from babelquake.report.comparing import comparison_markdown, comparison_table
from babelquake.studies.compare import Change

BETTER = Change("de-en", "new", "chrf", "misspell", 0.1, "robust", 80.0, 84.5, 0.99, 0.99, True, False)
WORSE = Change("de-en", "new", "chrf", "case", None, "consis", 80.0, 70.0, 0.001, 0.002, True, True)


def test_what_fell_comes_first() -> None:
    table = comparison_table([BETTER, WORSE], "main", "branch", 0.05)
    assert table.title == "branch against main"
    assert table.rows == (
        ("FELL", "de-en new", "chrf", "case", "consis", "80.00", "70.00", "−10.00", "0.002"),
        ("", "de-en new", "chrf", "misspell 0.1 of words", "robust", "80.00", "84.50", "+4.50", "0.990"),
    )
    assert {len(row) for row in table.rows} == {len(table.columns)}


@pytest.mark.parametrize(
    ("correction", "words"),
    [("max-t", "step-down max-T"), ("bh", "Benjamini–Hochberg"), ("none", "uncorrected")],
)
def test_the_note_names_test_correction_and_level(correction: str, words: str) -> None:
    note = comparison_table([BETTER], "main", "branch", 0.01, correction).note
    assert words in note and "paired tests" in note and "α = 0.01" in note


def test_what_cannot_be_tested_is_said() -> None:
    untested = Change("de-en", "new", "chrf", "case", None, "robust", 80.0, 70.0, 0.25, None, True, False, False, "few")
    assert comparison_table([untested], "main", "branch", 0.05).rows[0][-1] == "cannot be tested"
    assert "1 cannot be tested." in comparison_markdown([untested], "main", "branch", 0.05)


def test_a_pull_request_gets_the_verdict_first() -> None:
    assert "**1 of 2 measures got significantly worse.**" in comparison_markdown(
        [BETTER, WORSE], "main", "branch", 0.05
    )
    text = comparison_markdown([BETTER], "main|1", "branch", 0.05)
    assert text.index("No measure got") < text.index("| misspell 0.1 of words |")
    assert "| main\\|1 | branch |" in text


def test_systems_go_by_their_short_names_and_one_alone_need_not_be_said() -> None:
    long = [replace(change, system="bundled[model=de-en-bpe]") for change in (BETTER, WORSE)]
    table = comparison_table(long, "main", "branch", 0.05)
    assert {row[1] for row in table.rows} == {"de-en de-en-bpe"} and table.spare == ("system", "main", "branch")
    assert comparison_table([WORSE, long[0]], "main", "branch", 0.05).spare == ("main", "branch")
