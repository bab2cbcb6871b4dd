"""Tables in an 80-column terminal: numbers stay whole, and what has no room is named."""

from hypothesis import given
from hypothesis import strategies as st

from babelquake.cli.printing import fitting, natural_width
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


@given(st.integers(1, 300))
def test_a_fitted_table_is_within_the_width_or_has_nothing_to_spare(width: int) -> None:
    narrow, left_out = fitting(WIDE, width)
    assert natural_width(narrow) <= width or set(left_out) == set(WIDE.spare)
