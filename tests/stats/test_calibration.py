"""Simulations with known truth: how often tests find what is not there, and what is. Seeded.

400 trials leave a standard error of .011 on a rate of .05.
"""

import numpy as np
import pytest

from babelquake.stats.bootstrap import Resampled, bootstrap
from babelquake.stats.families import corrected
from babelquake.stats.intervals import bca_interval
from babelquake.stats.resampling import keys_by_place
from babelquake.stats.testing import difference_test, exchange_test, jackknife

NOISES = {
    "normal": lambda rng, shape: rng.normal(0, 5, shape),
    "heavy tails": lambda rng, shape: 3 * rng.standard_t(3, shape),
    "skewed": lambda rng, shape: 5 * (rng.exponential(1, shape) - 1),
    "very skewed": lambda rng, shape: rng.lognormal(0, 1, shape) - np.exp(0.5),
}


def mean(sums):
    return sums[..., 0] / sums[..., 1]


def difference(one, other):
    return mean(one) - mean(other)


def with_ones(scores):
    return np.stack([scores, np.ones_like(scores)], axis=1)


def asked(before, after, seed, few=50, draws=399):
    first, second = with_ones(after), with_ones(before)
    drawn = bootstrap(difference, [first, second], draws, seed)
    return exchange_test(mean, [first], [second], drawn, seed=seed, few=few)


def found(segments, trials, noise, gain=0.0, few=50):
    """The share of trials with p < .05 where the truth is `gain`."""
    hits = 0
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        before = rng.normal(50, 20, segments)
        after = before + gain + NOISES[noise](rng, segments)
        hits += asked(before, after, seed, few).p < 0.05
    return hits / trials


@pytest.mark.parametrize("noise", ["normal", "heavy tails", "skewed"])
@pytest.mark.parametrize("segments", [6, 10, 20, 49, 80])
def test_type_one_error_stays_at_its_level(segments, noise):
    assert found(segments, 400, noise) <= 0.05 + 3 * 0.011


@pytest.mark.parametrize("segments", [10, 25, 80])
def test_the_longest_tails_cost_something(segments):
    """Log-normal differences with a mean of zero (skewness 6), where no test of a mean keeps its level."""
    assert found(segments, 400, "very skewed") <= 0.12


def test_lopsided_differences_of_ratios_keep_their_level():
    """What each segment contributes has a long tail on one side, and a mean of zero."""
    hits = 0
    for seed in range(400):
        parts = NOISES["skewed"](np.random.default_rng(seed), 10) / 10
        drawn = Resampled(float(parts.sum()), np.zeros(399))
        hits += difference_test(drawn, parts, seed=seed).p < 0.05
    assert hits / 400 <= 0.05 + 3 * 0.011


def test_the_bootstrap_alone_would_not_keep_it():
    """Why randomisation is used below fifty segments."""
    assert found(8, 400, "normal", few=0) > 0.08


@pytest.mark.parametrize(("segments", "power"), [(10, 0.3), (20, 0.65), (60, 0.95)])
def test_an_effect_of_three_fifths_of_a_deviation_is_found(segments, power):
    assert found(segments, 200, "normal", gain=3.0) >= power


@pytest.mark.parametrize("segments", [12, 60])
def test_a_difference_of_ratios_keeps_its_level_between_unequal_systems(segments):
    """One system twice as good as the other, both lose a tenth: exchanging the systems would not be fair, this is."""

    def ratios(one, clean, two, clean_two):
        return 100 * mean(one) / mean(clean) - 100 * mean(two) / mean(clean_two)

    hits = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        weak, strong = rng.normal(30, 5, segments), rng.normal(60, 5, segments)
        tables = [
            with_ones(column)
            for column in (
                0.9 * weak + rng.normal(0, 4, segments),
                weak,
                0.9 * strong + rng.normal(0, 4, segments),
                strong,
            )
        ]
        drawn = bootstrap(ratios, tables, 399, seed)
        hits += difference_test(drawn, jackknife(ratios, tables), seed=seed).p < 0.05
    assert hits / 300 <= 0.05 + 3 * 0.0126


@pytest.mark.parametrize("segments", [15, 80])
def test_a_family_finds_nothing_where_there_is_nothing(segments):
    """Twenty tests that share segments: the chance of any finding is .05, where single tests would find one."""
    any_found = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        before = rng.normal(50, 20, segments)
        shared = rng.normal(0, 3, segments)
        tests = [asked(before, before + shared + rng.normal(0, 3, segments), seed) for _ in range(20)]
        any_found += any(outcome.p_corrected < 0.05 for outcome in corrected(tests))
    assert any_found / 100 <= 0.05 + 3 * 0.022


def test_a_family_finds_all_that_is_there():
    """A quarter of forty tests have an effect of half a deviation on 200 segments: power with the correction."""
    hits = misses = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        before = rng.normal(50, 20, 200)
        tests = [
            asked(before, before + (2.5 if number < 10 else 0) + rng.normal(0, 5, 200), seed, draws=999)
            for number in range(40)
        ]
        outcomes = corrected(tests)
        hits += sum(outcome.p_corrected < 0.05 for outcome in outcomes[:10])
        misses += any(outcome.p_corrected < 0.05 for outcome in outcomes[10:])
    assert hits / 200 > 0.97
    assert misses <= 4


def test_intervals_hold_the_truth_as_often_as_they_say():
    inside = 0
    for seed in range(300):
        scores = np.random.default_rng(seed).normal(3.0, 10, 100)
        estimate = bootstrap(mean, [with_ones(scores)], 400, seed, keys_by_place(100)).estimate()
        inside += estimate.low <= 3.0 <= estimate.high
    assert inside / 300 == pytest.approx(0.95, abs=0.04)


def losses(seed, segments):
    """Scores of 50, of which under noise 85 in 100 stay as they are and the others lose an exponential share."""
    rng = np.random.default_rng([seed, segments])
    clean = rng.normal(50, 10, segments)
    return clean, clean - np.where(rng.random(segments) < 0.85, 0.0, rng.exponential(20, segments))


@pytest.mark.parametrize("segments", [50, 100])
@pytest.mark.parametrize(
    ("number", "truth"), [(lambda a, b: mean(b) - mean(a), -3.0), (lambda a, b: 100 * mean(b) / mean(a), 94.0)]
)
def test_intervals_of_losses_hold_the_truth_where_few_segments_change(segments, number, truth):
    """The percentile interval holds it in .87 of cases at 50 segments (`bench/intervals.py` has 1,000 trials)."""
    inside = 0
    for seed in range(300):
        tables = [with_ones(side) for side in losses(seed, segments)]
        drawn = bootstrap(number, tables, 400, seed)
        differing = int((tables[0][:, 0] != tables[1][:, 0]).sum())
        low, high = bca_interval(drawn, jackknife(number, tables), differing)
        inside += low <= truth <= high
    assert inside / 300 >= 0.92
