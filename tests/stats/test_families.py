from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babelquake.stats.bootstrap import bootstrap
from babelquake.stats.families import corrected
from babelquake.stats.testing import Test, difference_test


def normal_test(value, seed=0, draws=999, segments=1000, null=None, alternative="two-sided"):
    drawn = np.random.default_rng(seed).normal(0, 1, draws) if null is None else null
    from babelquake.stats.pvalues import p_value

    p = p_value(drawn, value, alternative, segments=segments)
    return Test(value, drawn, segments, segments, p, "bootstrap", alternative)


def test_five_hundred_clear_findings_reach_the_floor_of_the_draws():
    """Holm would give 500/(B + 1) = .5."""
    found = corrected([normal_test(20.0, seed) for seed in range(500)])
    assert {outcome.p_corrected for outcome in found} == {1 / 1000}


def test_one_finding_among_many_nothings_keeps_its_significance():
    tests = [normal_test(6.0, 0)] + [normal_test(0.3, seed) for seed in range(1, 200)]
    found = corrected(tests)
    assert found[0].p_corrected < 0.01
    assert all(outcome.p_corrected > 0.5 for outcome in found[1:])


def test_tests_that_move_together_cost_nothing():
    """The same test fifty times is one test; fifty independent ones are fifty."""
    null = np.random.default_rng(0).normal(0, 1, 1999)
    together = corrected([normal_test(2.2, null=null) for _ in range(50)])
    assert together[0].p_corrected == together[0].p
    apart = corrected([normal_test(2.2, seed, draws=1999) for seed in range(50)])
    assert apart[0].p_corrected > 0.5


def test_max_t_by_hand():
    """Draws of three tests in units of their spread; the largest of what remains is counted at each step."""
    signs = np.array([1.0, -1.0, 1.0, -1.0])
    nulls = [signs, signs[[1, 0, 3, 2]], signs]
    tests = [Test(value, null, 40, 40, 0.0, "bootstrap") for value, null in zip((3.0, 0.5, 1.0), nulls, strict=True)]
    found = corrected(tests, alpha=0.5)
    assert [outcome.p_corrected for outcome in found] == [1 / 5, 1.0, 1.0]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(-8, 8), min_size=1, max_size=12), st.randoms())
def test_corrected_is_never_below_the_plain_and_order_does_not_matter(values, random):
    tests = [normal_test(value, seed, draws=199) for seed, value in enumerate(values)]
    found = corrected(tests)
    assert all(outcome.p_corrected >= outcome.p for outcome in found)
    order = list(range(len(tests)))
    random.shuffle(order)
    again = corrected([tests[place] for place in order])
    assert [again[order.index(place)].p_corrected for place in range(len(tests))] == [o.p_corrected for o in found]


def test_five_segments_cannot_be_tested_and_stay_out_of_the_family():
    small = normal_test(9.0, segments=5)
    found = corrected([small, normal_test(2.0, 1)])
    assert not found[0].testable
    assert "5 segments" in found[0].reason
    assert found[0].p == 2**-4
    assert found[1] == corrected([normal_test(2.0, 1)])[0]


def test_seven_segments_among_many_tests_cannot_be_tested():
    """Seven segments that all fall alike have T = √7; among 200 tests chance does more every time."""
    small = Test(np.sqrt(7), np.random.default_rng(5).normal(0, 1, 999), 7, 7, 2 / 2**7, "exact")
    alone, crowded = corrected([small])[0], corrected([small, *(normal_test(0.1, seed) for seed in range(200))])[0]
    assert alone.testable
    assert alone.p_corrected < 0.05
    assert not crowded.testable
    assert "7 segments" in crowded.reason


def test_too_few_draws_cannot_be_tested():
    outcome = corrected([normal_test(9.0, draws=15)])[0]
    assert not outcome.testable
    assert "15 resamples" in outcome.reason


def test_what_is_not_defined_cannot_be_tested():
    outcome = corrected([Test(float("nan"), np.full(99, np.nan), 50, 50, float("nan"), "undefined")])[0]
    assert (outcome.p, outcome.testable) == (None, False)


def test_one_sided_families_look_to_their_side():
    fallen, risen = (normal_test(value, 3, alternative="less") for value in (-6.0, 6.0))
    found = corrected([fallen, risen])
    assert found[0].p_corrected < 0.01
    assert found[1].p_corrected > 0.9


def test_a_difference_without_spread_is_as_sure_as_the_draws_allow():
    outcome = corrected([Test(2.0, np.zeros(99), 60, 60, 0.01, "bootstrap")], alpha=0.05)[0]
    assert outcome.p_corrected == pytest.approx(0.01)


def test_what_could_have_been_seen_is_where_a_difference_becomes_significant():
    """Alone, 1.96 standard deviations; among fifty independent tests more."""
    alone = corrected([normal_test(0.1, draws=9999)])[0].visible
    assert alone == pytest.approx(1.96, abs=0.06)
    among = corrected([normal_test(0.1, seed, draws=1999) for seed in range(50)])[0].visible
    assert among > 2.5
    for value, significant in ((alone * 0.98, False), (alone * 1.02, True)):
        assert (corrected([normal_test(value, draws=9999)])[0].p_corrected < 0.05) == significant


def test_a_difference_is_no_surer_than_students_t_says():
    test = normal_test(4.0, draws=1999)
    assert corrected([test])[0].p_corrected < 0.01
    assert corrected([replace(test, student=0.2)])[0].p_corrected == pytest.approx(0.2, abs=0.03)


def test_three_differing_segments_do_not_tell_what_would_have_been_visible():
    """No size of three differences is significant, so none of them would have been."""
    contributions = np.zeros(80)
    contributions[:3] = 1.25
    few = difference_test(bootstrap(lambda sums: sums[..., 0], [contributions[:, None]]), contributions)
    (outcome,) = corrected([few])
    assert outcome.p == 0.25 and outcome.p_corrected == 0.25
    assert outcome.visible is None
