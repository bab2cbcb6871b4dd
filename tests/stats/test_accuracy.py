from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babelquake.errors import UserError
from babelquake.stats.accuracy import accuracy, calibrated_accuracy


def brute_force(human, metric, epsilon):
    """acc_eq averaged over the segments that have a pair (Deutsch et al. 2023)."""
    shares = []
    for judged, scored in zip(human.T, metric.T, strict=True):
        known = [(h, m) for h, m in zip(judged, scored, strict=True) if not np.isnan(h)]
        right = [
            (a[0] == b[0]) if abs(a[1] - b[1]) <= epsilon else (a[0] - b[0]) * (a[1] - b[1]) > 0
            for a, b in combinations(known, 2)
        ]
        if right:
            shares.append(np.mean(right))
    return np.mean(shares) if shares else np.nan


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_calibration_finds_the_best_epsilon_there_is(data):
    systems, items = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 6))
    size = {"min_size": systems * items, "max_size": systems * items}
    grades = st.one_of(st.integers(0, 3).map(float), st.just(float("nan")))
    human = np.array(data.draw(st.lists(grades, **size))).reshape(systems, items)
    metric = np.array(data.draw(st.lists(st.integers(0, 12).map(float), **size))).reshape(systems, items)
    found = calibrated_accuracy(human, metric)
    best = [brute_force(human, metric, epsilon) for epsilon in range(13)]
    assert found.accuracy == pytest.approx(np.max(best), nan_ok=True)
    if not np.isnan(found.accuracy):
        assert found.epsilon == int(np.argmax(np.array(best) > np.max(best) - 1e-9))


def test_humans_who_see_no_difference_want_everything_tied():
    found = calibrated_accuracy(np.ones((3, 4)), np.arange(12.0).reshape(3, 4))
    assert (found.accuracy, found.epsilon) == (1.0, 8.0)


def test_more_pairs_than_can_be_sorted_are_refused():
    with pytest.raises(UserError, match="group by item"):
        accuracy(np.zeros(10_000), np.zeros(10_000), by="none")
