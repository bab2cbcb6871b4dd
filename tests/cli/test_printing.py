"""Tables in an 80-column terminal: numbers stay whole, and what has no room is named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from babelquake.cli.printing import fitting, natural_width, print_table
from babelquake.report.table import Table

WIDE = Table(
    "MT",
    ("perturbation", "system", "n", "clean", "Δ", "ROBUST"),
    tuple(
        ("misspell 0.1 of words", f"system-{row}", "1000", "74.01 ±0.95", "−12.3***", "94.0 ±1.2") for row in range(3)
    ),
    spare=("clean", "n"),
)


def test_what_fits_is_left_alone() -> None:
    assert fitting(WIDE, 200) == (WIDE, [])


def test_spare_columns_go_first_and_in_order() -> None:
    assert fitting(WIDE, natural_width(WIDE) - 1)[1] == ["clean"]
    narrow, left_out = fitting(WIDE, 10)
    assert left_out == ["clean", "n"] and narrow.columns == ("perturbation", "system", "Δ", "ROBUST")
    assert {len(row) for row in narrow.rows} == {4}


def test_columns_without_a_value_go_before_any_other() -> None:
    blank = Table("MT", (*WIDE.columns, "CONSIS"), tuple((*row, "") for row in WIDE.rows), spare=WIDE.spare)
    assert fitting(blank, natural_width(blank)) == (blank, [])
    assert fitting(blank, natural_width(blank) - 1) == (WIDE, [])


@given(st.integers(1, 300))
def test_a_fitted_table_is_within_the_width_or_has_nothing_to_spare(width: int) -> None:
    narrow, left_out = fitting(WIDE, width)
    assert natural_width(narrow) <= width or set(left_out) == set(WIDE.spare)


def test_long_names_of_columns_are_folded_so_that_no_column_is_lost(capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"sentsim[layer=2,sentence=siamesetransquest-{place},words=x]" for place in range(8)]
    print_table(Table("t", ("probe", *names), (("negation removed", *["+0.1234"] * 8),)))
    told = capsys.readouterr().out
    assert "negation removed" in told and told.count("+0.1234") == 8
    assert all(f"siamesetransquest-{place}," in told for place in range(8))


def test_names_are_broken_where_their_parts_meet(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = tuple(
        (f"misspell {row} of words that are long", "bertscore[model=minilm-en]", "94.0 ±1.2") for row in range(3)
    )
    table = Table("", ("perturbation", "scorer", "ROBUST"), lines)
    monkeypatch.setattr("babelquake.cli.printing.PIPED", 200)
    print_table(table)
    assert "bertscore[model=minilm-en]" in capsys.readouterr().out
    monkeypatch.setattr("babelquake.cli.printing.console", lambda: Console(width=60, highlight=False))
    print_table(table)
    told = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert sum("bertscore[model=" in line for line in told) == sum("minilm-en]" in line for line in told) == 3
    assert not any("]" in line for line in told)


def test_marks_are_on_every_line_they_belong_to(capsys: pytest.CaptureFixture[str]) -> None:
    """Names are said once; of a mark it could not be told where it ends."""
    rows = (("FELL", "a", "1"), ("FELL", "b", "2"), ("", "c", "3"))
    print_table(Table("", ("", "measure", "value"), rows))
    assert capsys.readouterr().out.count("FELL") == 2
    print_table(Table("", ("system", "measure", "value"), (("mine", "a", "1"), ("mine", "b", "2"))))
    assert capsys.readouterr().out.count("mine") == 1
