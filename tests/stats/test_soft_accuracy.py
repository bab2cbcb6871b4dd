"""Soft pairwise accuracy, against permutations as mt-metrics-eval draws them."""

import numpy as np
import pytest
from numpy.typing import NDArray

from babelquake.stats.agreement_bootstrap import bootstrap_agreement
from babelquake.stats.soft_accuracy import soft_accuracy

Array = NDArray[np.float64]


def by_permutations(human: Array, metric: Array, permutations: int = 20_000) -> float:
    """1 − PCE: p is the share of exchanged sums that reach the observed one (mt-metrics-eval, `pce`)."""
    signs = np.random.default_rng(4).integers(0, 2, (permutations, human.shape[1])) * 2.0 - 1.0
    first, second = np.triu_indices(len(human), 1)
    both = []
    for scores in (human, metric):
        exchanged, observed = signs @ scores.T, scores.sum(axis=1)
        both.append((exchanged[:, first] - exchanged[:, second] >= observed[first] - observed[second]).mean(axis=0))
    return float(1 - np.abs(both[0] - both[1]).mean())


def tables(systems: int, segments: int, noise: float, seed: int = 1) -> tuple[Array, Array]:
    """Skewed human scores with many perfect translations, as MQM has, and a metric that follows them with noise."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(systems, 1)) * 0.3
    human = -np.floor(rng.exponential(2.0 - quality, size=(systems, segments)))
    return human, human + rng.normal(size=human.shape) * noise


@pytest.mark.parametrize(("segments", "noise", "within"), [(30, 3.0, 0.02), (300, 3.0, 0.005), (300, 30.0, 0.005)])
def test_it_is_what_many_permutations_give(segments: int, noise: float, within: float) -> None:
    """With few segments whole-number scores leave exchanged sums that equal the observed one, which count in full."""
    human, metric = tables(6, segments, noise)
    assert float(soft_accuracy(human, metric)) == pytest.approx(by_permutations(human, metric), abs=within)


def test_two_systems_by_hand() -> None:
    human = np.array([[3.0, 1.0, 2.0, 2.0], [1.0, 1.0, 1.0, 3.0]])  # d = 2, 0, 1, −1: z = 2/√6, p = .2071
    metric = np.array([[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]])  # d = −1, 0, 0, 1: p = .5
    assert float(soft_accuracy(human, metric)) == pytest.approx(1 - (0.5 - 0.207108), abs=1e-5)


def test_a_metric_that_repeats_people_is_right_and_its_opposite_is_wrong() -> None:
    human, _ = tables(4, 400, 0.0)
    assert float(soft_accuracy(human, 7 * human - 3)) == pytest.approx(1)
    assert float(soft_accuracy(human, -human)) < 0.3


def test_a_metric_that_says_nothing_is_halfway_sure_of_everything() -> None:
    human = np.arange(3.0)[:, None] + np.zeros((3, 200))
    assert float(soft_accuracy(human, np.zeros_like(human))) == pytest.approx(0.5)


def test_segments_that_were_not_judged_do_not_count() -> None:
    human, metric = tables(4, 120, 3.0)
    missing = human.copy()
    missing[:, 100:] = np.nan
    assert float(soft_accuracy(missing, metric)) == pytest.approx(float(soft_accuracy(human[:, :100], metric[:, :100])))


def test_one_system_has_no_soft_accuracy() -> None:
    human, metric = tables(1, 20, 1.0)
    assert np.isnan(float(soft_accuracy(human, metric)))


def test_the_interval_covers_the_value_whatever_the_grouping() -> None:
    human, metric = tables(5, 200, 3.0)
    drawn = bootstrap_agreement("soft_accuracy", human, metric, "system", resamples=500)
    estimate = drawn.estimate()
    assert estimate.value == float(soft_accuracy(human, metric))
    assert estimate.low < estimate.value <= estimate.high
