"""Two runs side by side, for people and for pull requests."""

from dataclasses import replace

import pytest

from babelquake.report.comparing import comparison_markdown, comparison_table
from babelquake.studies.comparison import Change, Comparison

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
