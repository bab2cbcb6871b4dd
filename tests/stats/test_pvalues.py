import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from babelquake.errors import UserError
from babelquake.stats.pvalues import benjamini_hochberg, p_value, smallest_p


def test_each_alternative_counts_what_it_says():
    null = np.array([-2.0, -1.0, 1.0, 3.0])
    assert p_value(null, 1.0) == 5 / 5
    assert p_value(null, 2.0) == 3 / 5
    assert p_value(null, 2.0, "greater") == 2 / 5
    assert p_value(null, 2.0, "less") == 4 / 5
    assert p_value(null, 2.0, exhaustive=True) == 2 / 4


def test_few_segments_bound_it_below():
    """Six segments have 2⁶ arrangements, of which two are the most extreme; one segment shows nothing."""
    null = np.zeros(99_999)
    assert p_value(null, 5.0, segments=6) == 2**-5
    assert p_value(null, 5.0, "greater", segments=6) == 2**-6
    assert p_value(null, 5.0, segments=1) == 1.0
    assert p_value(null, 5.0, segments=5000) == 1e-5
    assert smallest_p(0) == 1.0


def test_no_difference_has_p_one():
    assert p_value(np.random.default_rng(0).normal(size=50), 0.0) == 1.0
    assert p_value(np.zeros(50), 0.0) == 1.0


def test_equal_but_for_rounding_is_equal():
    assert p_value([0.1 + 0.2], 0.3, exhaustive=True) == 1.0


def test_undefined_draws_are_left_out_and_an_undefined_difference_has_none():
    assert p_value([np.nan, 1.0, -1.0], 1.0) == 1.0
    assert np.isnan(p_value([np.nan], 1.0))
    assert np.isnan(p_value([1.0], np.nan))


def test_an_unknown_alternative_is_refused():
    with pytest.raises(UserError, match="greater"):
        p_value([1.0], 1.0, "grater")


families = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_benjamini_hochberg_by_hand():
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.02, 0.04, 0.04, 0.02])


@given(families)
def test_benjamini_hochberg_equals_scipy(family):
    assert benjamini_hochberg(family) == pytest.approx(false_discovery_control(family))


@given(families, st.integers(0, 30))
def test_what_was_not_tested_does_not_count(family, place):
    gap = min(place, len(family))
    adjusted = benjamini_hochberg([*family[:gap], None, float("nan"), *family[gap:]])
    assert np.isnan(adjusted[gap : gap + 2]).all()
    np.testing.assert_array_equal(np.delete(adjusted, [gap, gap + 1]), benjamini_hochberg(family))


def test_an_empty_family_stays_empty():
    assert benjamini_hochberg([]).size == 0
    assert np.isnan(benjamini_hochberg([None])).all()


def test_a_p_value_above_one_is_refused():
    with pytest.raises(UserError, match=r"1\.5"):
        benjamini_hochberg([0.2, 1.5])
