import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from babelquake.errors import UserError
from babelquake.stats.pvalues import benjamini_hochberg

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
