import numpy as np
import pytest
from scipy.stats import binomtest, ttest_1samp

from babelquake.stats.skewness import unskewed_p


def test_symmetric_differences_give_student_s_t():
    values = np.array([-3.0, -1.0, 0.0, 1.0, 3.0]) + 2.0
    for alternative in ("two-sided", "greater", "less"):
        expected = ttest_1samp(values, 0.0, alternative=alternative).pvalue
        assert unskewed_p(values, alternative) == pytest.approx(expected, rel=1e-9)


def test_a_tail_on_the_other_side_makes_a_rise_less_sure_and_one_on_its_own_side_surer():
    """Nine gains of about 1 may be balanced by a rare large loss that this sample hints at, or more."""
    long_left = np.array([1.0, 1.2, 0.8, 1.1, 0.9, 1.3, 0.7, 1.0, -2.0])
    long_right = 2 * long_left.mean() - long_left
    plain = ttest_1samp(long_left, 0.0, alternative="greater").pvalue
    assert unskewed_p(long_left, "greater") > plain > unskewed_p(long_right, "greater")


def test_hall_by_hand():
    """n = 4, values 1 1 1 5: mean 2, T = 2, moments 3 and 6, γ/√n = 6/3^1.5/2."""
    skew = 6 / 3**1.5 / 2
    g = 2 + 4 * skew / 3 + 8 * skew**2 / 27 + skew / 6
    from scipy.stats import t

    assert unskewed_p([1, 1, 1, 5], "greater") == pytest.approx(t.sf(g, 3))


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0], [3.0] * 6, [0.0] * 5])
def test_without_spread_or_with_two_it_bounds_nothing(values):
    assert unskewed_p(values) == 0.0


@pytest.mark.parametrize("wins", [1, 2, 3, 4])
def test_wins_and_losses_have_no_tail(wins):
    """2 wins of 18 are as rare as the sign test says (p = .0013); their skewness only says that losses are many."""
    values = np.repeat([1.0, -1.0, 0.0], [wins, 18 - wins, 5])
    assert unskewed_p(values) == pytest.approx(ttest_1samp(values, 0.0).pvalue, rel=1e-9)
    assert unskewed_p(values[:18]) < binomtest(wins, 18).pvalue
    assert unskewed_p(values * [*[1.5] * wins, *[1.0] * (23 - wins)]) > unskewed_p(values)
