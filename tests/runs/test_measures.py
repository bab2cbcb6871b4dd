"""A measure knows its meaning, and its table says so."""

import polars as pl
import pytest

from babelquake.runs.measures import COLUMNS, Kind, Measure, measures_frame

ROBUST = Kind("robust", unit="% of clean quality", better="up", paper="Niu 2020 §2")
PROMISED = (
    "study, language_pair, system, scorer, perturbation, level, measure, value, sd, low, high, p, p_corrected, n, "
    "signature"
)


def test_the_promised_columns_come_first() -> None:
    assert list(COLUMNS)[:15] == PROMISED.split(", ")


def test_a_measure_is_a_row() -> None:
    table = measures_frame([Measure(ROBUST, 94.0, system="a", scorer="chrf", perturbation="case", p=0.2, n=12)])
    row = table.row(0, named=True)
    assert (row["measure"], row["value"], row["unit"], row["better"]) == ("robust", 94.0, "% of clean quality", "up")
    assert row["verdict"] == "not significant"
    assert row["level"] is None


@pytest.mark.parametrize(
    ("p", "corrected", "testable", "said"),
    [
        (0.001, 0.01, True, "significant"),
        (0.001, 0.2, True, "not significant"),
        (0.001, None, True, "significant"),
        (None, None, True, None),
        (0.5, 0.5, False, "cannot be tested"),
    ],
)
def test_a_verdict_never_claims_what_could_not_be_tested(
    p: float | None, corrected: float | None, testable: bool, said: str | None
) -> None:
    assert Measure(ROBUST, 1.0, p=p, p_corrected=corrected, testable=testable).verdict == said


def test_numbers_that_are_not_finite_are_null() -> None:
    table = measures_frame([Measure(ROBUST, float("nan"), sd=float("inf"), note="a clean score of 0")])
    assert table["value"].to_list() == [None]
    assert table["sd"].to_list() == [None]
    assert table["note"].to_list() == ["a clean score of 0"]


def test_differences_have_a_kind_of_their_own() -> None:
    assert ROBUST.difference().name == "robust_difference"
    assert ROBUST.difference().better == "up"


def test_families_are_readable() -> None:
    table = measures_frame([Measure(ROBUST, 1.0, family=(None, "chrf", "loss of quality"))])
    assert table["family"].to_list() == ["– × chrf × loss of quality"]
    assert isinstance(table, pl.DataFrame)
