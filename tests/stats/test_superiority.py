"""Rank tests within families: their own p-values, and draws that behave like the statistic under the null."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, wilcoxon

from babelquake.stats.families import corrected
from babelquake.stats.resampling import keys_by_place
from babelquake.stats.superiority import signed_rank_test, superiority_test


def test_the_p_is_the_rank_sum_s_and_the_value_the_probability_above_one_half():
    rng = np.random.default_rng(0)
    one, two = np.round(rng.normal(0.3, 1, 80), 1), np.round(rng.normal(0, 1, 70), 1)
    test = superiority_test(one, two, (keys_by_place(80), keys_by_place(70)))
    expected = mannwhitneyu(one, two, alternative="greater")
    assert test.p == expected.pvalue
    assert test.value == pytest.approx(expected.statistic / (80 * 70) - 0.5)


def test_draws_spread_like_the_u_statistic_of_independent_samples():
    """sd of U/(n·m) is √((n + m + 1)/(12nm)) where the samples have one distribution."""
    rng = np.random.default_rng(1)
    one, two = rng.normal(size=300), rng.normal(size=200)
    keys = keys_by_place(500)
    test = superiority_test(one, two, (keys[:300], keys[300:]), draws=4000)
    assert test.null.std() == pytest.approx(np.sqrt(501 / (12 * 300 * 200)), rel=0.08)


def test_segments_that_both_samples_share_make_the_draws_paired():
    rng = np.random.default_rng(2)
    hard = rng.normal(0, 3, 200)
    one, two = hard + rng.normal(0, 1, 200), hard + rng.normal(0, 1, 200)
    keys = keys_by_place(400)
    paired = superiority_test(one, two, (keys[:200], keys[:200])).null.std()
    apart = superiority_test(one, two, (keys[:200], keys[200:])).null.std()
    assert paired < 0.6 * apart


def test_a_family_of_systems_finds_nothing_where_there_is_nothing():
    """Six equal systems, fifteen comparisons: any false finding in about one of twenty trials at most."""
    keys, any_found = keys_by_place(60), 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        samples = rng.normal(size=60) + rng.normal(size=(6, 60))
        samples = samples[np.argsort(-samples.mean(axis=1))]
        tests = [
            superiority_test(samples[a], samples[b], (keys, keys), draws=399, seed=seed)
            for a, b in combinations(range(6), 2)
        ]
        any_found += any((outcome.p_corrected or 1.0) < 0.05 for outcome in corrected(tests))
    assert any_found / 60 <= 0.05 + 3 * 0.028


def test_a_clear_winner_is_found_among_many_and_more_systems_do_not_saturate():
    rng = np.random.default_rng(3)
    keys = keys_by_place(150)
    samples = rng.normal(size=(20, 150))
    samples[0] += 1.0
    tests = [superiority_test(samples[0], other, (keys, keys)) for other in samples[1:]]
    assert max(outcome.p_corrected for outcome in corrected(tests)) <= 2 / 2000


def test_signed_ranks_have_wilcoxon_s_p_and_draws_of_flipped_signs():
    rng = np.random.default_rng(4)
    one = rng.normal(0.4, 1, 80)
    test = signed_rank_test(one, np.zeros(80), keys_by_place(80), draws=4000)
    assert test.p == pytest.approx(wilcoxon(one, alternative="greater").pvalue)
    assert test.null.std() == pytest.approx(np.sqrt(80 * 81 * 161 / 6), rel=0.05)
    drawn = (np.sum(test.null >= test.value) + 1) / 4001
    assert drawn == pytest.approx(test.p, abs=0.01)


def test_equal_pairs_have_nothing_to_find():
    test = signed_rank_test([1.0, 2.0], [1.0, 2.0], keys_by_place(2))
    assert (test.p, test.method) == (1.0, "nothing differs")
