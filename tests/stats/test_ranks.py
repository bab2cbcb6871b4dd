import math
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, wilcoxon

from babelquake.errors import UserError
from babelquake.stats.families import corrected
from babelquake.stats.ranks import (
    Place,
    can_separate,
    clusters,
    rank_sum,
    rank_sum_matrix,
    rank_sum_size,
    signed_rank,
    signed_rank_test,
    superiority_test,
)
from babelquake.stats.resampling import keys_by_place


def test_rank_sum_of_fully_separated_samples():
    """Of the 20 ways to choose 3 ranks of 6, one is the most extreme on either side."""
    assert rank_sum([4, 5, 6], [1, 2, 3]).p == pytest.approx(2 / 20)
    assert rank_sum([4, 5, 6], [1, 2, 3], "greater").p == pytest.approx(1 / 20)
    assert rank_sum([4, 5, 6], [1, 2, 3]).statistic == 9


def test_signed_rank_of_five_gains():
    """All of 5 differences positive: 1 of 2⁵ sign patterns one-sided."""
    test = signed_rank([2, 4, 6, 8, 10], [1, 2, 3, 4, 5], "greater")
    assert (test.p, test.statistic, test.ranked) == (pytest.approx(1 / 32), 15, 5)


def test_pairs_without_difference_or_score_are_dropped():
    plain = signed_rank([2, 4, 6], [1, 2, 3])
    padded = signed_rank([2, 7, 4, 6, np.nan], [1, 7, 2, 3, 1])
    assert padded == plain
    assert signed_rank([1, 2], [1, 2]).p == 1.0


def test_missing_sides_are_refused():
    with pytest.raises(UserError, match="each side"):
        rank_sum([np.nan], [1])
    with pytest.raises(UserError, match="pairs"):
        signed_rank([1, 2], [1])


def test_samples_can_be_separated_where_the_most_extreme_outcome_is_significant():
    for one in range(1, 8):
        for other in range(1, 25):
            extreme = rank_sum(np.arange(other, other + one), np.arange(other), "greater")
            assert can_separate(one, other) == (extreme.p < 0.05), (one, other)
    assert can_separate(1, 150) and not can_separate(0, 150) and not can_separate(0, 0)


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


def test_a_cluster_ends_where_everybody_above_beats_everybody_below() -> None:
    p = np.full((4, 4), 0.12)
    p[0, 2] = p[0, 3] = p[1, 2] = p[1, 3] = 0.01
    assert clusters(p) == [Place(2, 1, 2), Place(2, 1, 2), Place(0, 3, 4), Place(0, 3, 4)]
    p[1, 2] = 0.2
    assert [place.last for place in clusters(p)] == [4, 4, 4, 4], "one pair that does not separate joins all"
    p[1, 2] = p[2, 3] = 0.01
    assert [(place.first, place.last) for place in clusters(p)] == [(1, 2), (1, 2), (3, 3), (4, 4)]


def test_one_system_is_a_cluster() -> None:
    assert clusters(np.full((1, 1), np.nan)) == [Place(0, 1, 1)]


def test_the_matrix_is_one_sided() -> None:
    p = rank_sum_matrix([np.arange(10.0, 30.0), np.arange(20.0)])
    assert p[0, 1] < 0.01
    assert p[0, 1] + p[1, 0] == pytest.approx(1.0, abs=0.02)
    assert np.isnan(p[0, 0])


def test_noethers_formula_by_hand() -> None:
    first, second = np.array([2.0, 2.0, 2.0, 2.0, 0.0]), np.array([1.0])
    needed = rank_sum_size(first, second)
    assert needed.superiority == pytest.approx(0.8)
    assert needed.each == math.ceil((1.6448536 + 0.8416212) ** 2 / (3 * 0.3**2) / 2)


def test_no_number_helps_where_there_is_no_difference() -> None:
    assert math.isinf(rank_sum_size([1, 2, 3], [1, 2, 3]).each)
    assert math.isinf(rank_sum_size([1, 2, 3], [4, 5, 6]).each)


def test_the_size_it_names_has_the_power_it_promises() -> None:
    draw = np.random.default_rng(5)
    large = draw.normal(0.3, 1, 20_000), draw.normal(0, 1, 20_000)
    each = int(rank_sum_size(*large, power=0.8).each)
    found = [rank_sum(draw.normal(0.3, 1, each), draw.normal(0, 1, each), "greater").p < 0.05 for _ in range(400)]
    assert 0.74 < np.mean(found) < 0.86
