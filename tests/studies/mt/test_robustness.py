"""Systems under the same noise are compared pair by pair, ranked, and their ROBUST set against their CONSIS."""

import numpy as np
import pytest
from tests.studies.mt.made import CLEAN, cells, tables

from babelquake.scorers import scorer
from babelquake.studies.mt.robustness import ranks, robust_consis_correlation, system_differences


def test_differences_are_paired_and_of_equal_systems_nil() -> None:
    judge = scorer("chrf")
    one, other = cells(judge, tables(judge), tables(judge, CLEAN, "b"))
    found = {row.kind.name: row for row in system_differences([one, other])}
    assert (found["robust_difference"].system, found["robust_difference"].other) == ("a", "b")
    assert found["robust_difference"].value == pytest.approx(
        one.numbers["robust"].value - other.numbers["robust"].value
    )
    same = {row.kind.name: row for row in system_differences(cells(judge, tables(judge), tables(judge, system="c")))}
    assert same["consis_difference"].value == same["consis_difference"].sd == 0
    assert same["consis_difference"].p == same["consis_difference"].p_corrected == 1


def test_systems_judged_on_other_segments_are_not_compared() -> None:
    judge = scorer("chrf")
    one, other = cells(judge, tables(judge), tables(judge, system="b"))
    other.keys = other.keys + np.uint64(1)
    assert system_differences([one, other]) == []


def test_ranks_and_ties() -> None:
    judge = scorer("chrf")
    found = cells(judge, tables(judge, system="worse"), tables(judge, CLEAN, "good"), tables(judge, CLEAN, "as good"))
    assert {row.system: row.value for row in ranks(found)} == {"good": 1, "as good": 1, "worse": 3}
    assert ranks(found[:1]) == []


def test_the_correlation_of_robust_and_consis_leaves_level_nought_out() -> None:
    judge = scorer("chrf")
    parts = [tables(judge), tables(judge, CLEAN, "b"), tables(judge, [f"x{text[:9]}" for text in CLEAN], "c")]
    found = cells(judge, *parts)
    points = np.array([[cell.numbers["robust"].value, cell.numbers["consis"].value] for cell in found])
    (row,) = robust_consis_correlation(found)
    assert row.value == pytest.approx(float(np.corrcoef(points.T)[0, 1]))
    drawn = [
        np.corrcoef(*([cell.numbers[name].values[place] for cell in found] for name in ("robust", "consis")))[0, 1]
        for place in range(500)
    ]
    assert (row.low, row.high) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])))
    with_zero = cells(judge, *parts, tables(judge, CLEAN, level=0.0, perturbation="visual"))
    assert robust_consis_correlation(with_zero)[0].n == row.n == 3
    assert robust_consis_correlation(found[:2]) == []
