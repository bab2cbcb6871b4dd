import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babelquake.errors import UserError
from babelquake.stats.agreement import pearson
from babelquake.stats.kendall import darr
from babelquake.stats.permutation import compare_agreement, permutation_test


def metrics(noise, other_noise, systems=6, items=80, seed=0):
    rng = np.random.default_rng(seed)
    human = rng.normal(50, 25, (systems, items))
    first, second = (human / 50 + rng.normal(0, spread, human.shape) for spread in (noise, other_noise))
    return human, first, 100 * second + 7


@pytest.mark.parametrize("swap", ["entry", "item", "system"])
def test_the_quick_way_for_pearson_draws_and_finds_the_same(swap):
    human, first, second = metrics(0.5, 0.55)
    quick = compare_agreement("pearson", human, first, second, swap=swap)
    plain = permutation_test(lambda metric: pearson(human, metric), first, second, human=human, swap=swap)
    assert quick.difference == pytest.approx(plain.difference)
    assert quick.p == plain.p


@pytest.mark.parametrize(
    ("statistic", "by"), [("pearson", "none"), ("pearson", "item"), ("kendall", "item"), ("kendall_like", "item")]
)
def test_a_much_better_metric_is_found(statistic, by):
    human, good, bad = metrics(0.2, 1.5)
    assert compare_agreement(statistic, human, good, bad, by=by, draws=300).p < 0.01
    assert compare_agreement(statistic, human, bad, good, by=by, draws=300, alternative="greater").p > 0.99


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.1, 5), st.floats(-9, 9))
def test_p_is_above_zero_and_blind_to_the_metrics_scale(seed, scale, shift):
    human, first, second = metrics(0.5, 0.6, systems=3, items=10, seed=seed)
    plain = compare_agreement("pearson", human, first, second, draws=100)
    moved = compare_agreement("pearson", human, first * scale + shift, second, draws=100)
    assert 0 < plain.p <= 1
    assert moved.p == pytest.approx(plain.p, abs=0.011)


def test_equally_good_metrics_give_uniform_p_values():
    found = [compare_agreement("pearson", *metrics(0.5, 0.5, seed=seed), draws=200, seed=seed).p for seed in range(200)]
    assert np.mean(np.array(found) < 0.1) == pytest.approx(0.1, abs=0.06)


def test_entries_without_a_human_score_play_no_part():
    human, first, second = metrics(0.5, 0.6)
    human[:, 70:] = np.nan
    spoilt = first.copy()
    spoilt[:, 70:] = 1e6
    cut = compare_agreement("kendall_like", human, first, second, draws=50)
    assert compare_agreement("kendall_like", human, spoilt, second, draws=50) == cut


def test_darr_compares_metrics_by_its_pairs():
    human, good, bad = metrics(0.2, 2.0)
    better = np.where(human[0] > human[1], 0, 1)
    columns = np.arange(human.shape[1])

    def agree(metric):
        return darr(metric[..., better, columns], metric[..., 1 - better, columns])

    assert permutation_test(agree, good, bad, draws=200).p < 0.05


def test_unknown_swaps_and_vectors_without_systems_are_refused():
    with pytest.raises(UserError, match="'system'"):
        compare_agreement("pearson", [1, 2], [1, 2], [2, 1], swap="systems")
    with pytest.raises(UserError, match="systems × items"):
        compare_agreement("kendall", [1, 2], [1, 2], [2, 1], swap="item")
    with pytest.raises(UserError, match="same systems"):
        compare_agreement("pearson", [1, 2], [1, 2, 3], [2, 1])
