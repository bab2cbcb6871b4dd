"""Agreement between people."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelquake.stats.reliability import Mark, krippendorff, rater_pairs, span_f1, span_precision, span_recall, span_row

KRIPPENDORFF_2011 = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
"""The example of Krippendorff 2011, section C: four observers, twelve units."""


def flat() -> tuple[list[int], list[float]]:
    judged = [(unit, value) for row in KRIPPENDORFF_2011 for unit, value in enumerate(row) if value is not None]
    return [unit for unit, _ in judged], [float(value) for _, value in judged]


def test_the_published_example() -> None:
    assert krippendorff(*flat(), level="interval") == pytest.approx(0.849, abs=5e-4)
    assert krippendorff(*flat(), level="nominal") == pytest.approx(0.743, abs=5e-4)


def test_perfect_agreement_is_one_and_nothing_to_compare_is_nothing() -> None:
    assert krippendorff([1, 1, 2, 2], [5, 5, 9, 9]) == 1.0
    assert np.isnan(krippendorff([1, 2, 3], [5, 6, 7]))
    assert np.isnan(krippendorff([1, 1, 2, 2], [5, 5, 5, 5]))


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 1000).map(lambda tenths: tenths / 10)), min_size=4, max_size=30
    ),
    st.floats(0.1, 10),
    st.floats(-50, 50),
)
def test_alpha_does_not_depend_on_the_scale(judged: list[tuple[int, float]], factor: float, shift: float) -> None:
    units, values = [unit for unit, _ in judged], np.array([value for _, value in judged])
    if np.ptp(values) < 1e-3:
        return
    one, other = krippendorff(units, values), krippendorff(units, values * factor + shift)
    assert (np.isnan(one) and np.isnan(other)) or one == pytest.approx(other, abs=1e-6)


def test_pairs_of_raters_are_weighted_by_what_they_share() -> None:
    units = [str(unit) for unit in range(30)]
    judged = {
        "a": {unit: float(place) for place, unit in enumerate(units)},
        "b": {unit: float(place) for place, unit in enumerate(units[:20])},
        "c": {unit: -float(place) for place, unit in enumerate(units[:10])},
    }
    found = rater_pairs(judged)
    assert (found.pairs, found.common) == (3, 40)
    assert found.pearson == pytest.approx((20 - 10 - 10) / 40)
    assert found.kendall == pytest.approx(0.0)


def test_a_rater_without_variation_is_no_partner() -> None:
    units = [str(unit) for unit in range(12)]
    found = rater_pairs({"a": dict.fromkeys(units, 1.0), "b": {unit: float(unit) for unit in units}})
    assert found.pairs == 0
    assert np.isnan(found.pearson)


def test_units_are_taken_in_the_order_of_the_first_rater() -> None:
    """Not in that of a set, which changes from process to process, and with it the last bit of a correlation."""
    rng = np.random.default_rng(5)
    units = [f"unit {place}" for place in rng.permutation(200)]
    first, second = rng.normal(size=(2, 200))
    one, other = dict(zip(units, first, strict=True)), dict(zip(units[::-1], second[::-1], strict=True))
    assert rater_pairs({"a": one, "b": other}).pearson == np.corrcoef(first, second)[0, 1]


MAJOR, MINOR = True, False


def test_the_wrong_severity_earns_half() -> None:
    gold = [Mark(0, 4, MAJOR), Mark(10, 12, MINOR)]
    marked = [Mark(2, 6, MINOR), Mark(10, 12, MINOR)]
    row = np.array(span_row(gold, marked, 20))
    assert row.tolist() == [2 * 0.5 + 2, 6, 6]
    assert float(span_precision(row)) == float(span_recall(row)) == float(span_f1(row)) == pytest.approx(0.5)


def test_errors_that_overlap_count_as_often_as_they_were_marked() -> None:
    row = span_row([Mark(0, 3, MAJOR), Mark(0, 3, MAJOR)], [Mark(0, 3, MAJOR)], 3)
    assert row == (3, 6, 3)


def test_what_lies_beyond_the_text_counts_for_nobody() -> None:
    assert span_row([Mark(0, 10, MINOR)], [Mark(5, 50, MINOR)], 8) == (3, 8, 3)


def test_nothing_marked_where_there_is_nothing_is_right() -> None:
    nothing = np.array(span_row([], [], 5))
    assert (float(span_precision(nothing)), float(span_recall(nothing)), float(span_f1(nothing))) == (1, 1, 1)
    silent = np.array(span_row([Mark(0, 2, MAJOR)], [], 5))
    assert (float(span_precision(silent)), float(span_recall(silent)), float(span_f1(silent))) == (1, 0, 0)
