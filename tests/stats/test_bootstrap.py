import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babelquake.errors import UserError
from babelquake.stats.bootstrap import Resampled, bootstrap, resampled_sums
from babelquake.stats.resampling import Draws, keys_by_place, segment_keys


def mean(sums):
    return sums[..., 0] / sums[..., 1]


def with_ones(scores):
    return np.stack([scores, np.ones_like(scores)], axis=1)


def robust(perturbed, clean):
    return 100 * mean(perturbed) / mean(clean)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 300), st.integers(1, 5), st.integers(1, 200_000), st.integers(0, 99))
def test_sums_of_whole_numbers_are_exact(segments, width, largest, seed):
    rows = np.random.default_rng(seed).integers(0, largest + 1, (segments, width))
    counts = next(Draws(keys_by_place(segments), seed=seed).rows(20)).astype(np.int64)
    counts[counts.sum(axis=1) == 0] = 1
    np.testing.assert_array_equal(resampled_sums(rows.astype(float), 20, seed), counts @ rows)


def test_the_bootstrap_of_a_mean_has_its_textbook_error():
    scores = np.random.default_rng(0).normal(10, 3, 2000)
    estimate = bootstrap(mean, [with_ones(scores)], resamples=8000, seed=1).estimate()
    error = scores.std() / 2000**0.5
    assert estimate.value == pytest.approx(scores.mean())
    assert estimate.mean == pytest.approx(scores.mean(), abs=error / 10)
    assert estimate.sd == pytest.approx(error, rel=0.03)
    assert (estimate.low, estimate.high) == pytest.approx(
        (scores.mean() - 1.96 * error, scores.mean() + 1.96 * error), abs=error / 5
    )


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(1, 100), min_size=2, max_size=50), st.floats(0.1, 0.9), st.integers(0, 9))
def test_a_system_that_always_keeps_the_same_share_is_robust_without_error(scores, share, seed):
    clean = with_ones(np.array(scores))
    estimate = bootstrap(robust, [clean * [share, 1], clean], resamples=50, seed=seed).estimate()
    assert estimate.value == pytest.approx(100 * share)
    assert estimate.sd == pytest.approx(0, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-100, 100), min_size=2, max_size=50), st.floats(-50, 50), st.floats(0.5, 2))
def test_shifting_and_scaling_scores_shifts_and_scales_the_interval(scores, shift, scale):
    plain = bootstrap(mean, [with_ones(np.array(scores))], resamples=60).estimate()
    moved = bootstrap(mean, [with_ones(np.array(scores) * scale + shift)], resamples=60).estimate()
    assert moved.low == pytest.approx(plain.low * scale + shift, abs=1e-9)
    assert moved.high == pytest.approx(plain.high * scale + shift, abs=1e-9)


def test_a_wider_level_gives_a_wider_interval():
    resampled = bootstrap(mean, [with_ones(np.arange(100.0))])
    narrow, wide = resampled.estimate(0.5), resampled.estimate(0.99)
    assert wide.low < narrow.low < resampled.value < narrow.high < wide.high


def test_resamples_without_a_value_are_left_out():
    estimate = Resampled(1.0, np.array([1.0, np.nan, 3.0])).estimate()
    assert estimate.mean == 2.0
    assert np.isnan(Resampled(1.0, np.array([np.nan])).estimate().sd)


def test_a_vector_is_a_table_of_width_one():
    assert bootstrap(lambda sums: sums[..., 0] ** 0, [np.ones(5)], resamples=10).values == pytest.approx(np.ones(10))


def test_tables_of_different_length_are_refused():
    with pytest.raises(UserError, match="same segments"):
        bootstrap(robust, [np.ones((3, 2)), np.ones((4, 2))])


def test_a_function_that_ignores_the_resamples_is_refused():
    with pytest.raises(UserError, match="one score per resample"):
        bootstrap(lambda sums: 1.0, [np.ones((3, 2))])


def test_a_level_of_95_is_not_a_share():
    with pytest.raises(UserError, match=r"0\.95"):
        Resampled(1.0, np.ones(3)).estimate(95)


def test_the_order_of_rows_changes_no_bit_and_neither_does_company():
    rng = np.random.default_rng(0)
    rows, keys = rng.normal(size=(3000, 3)), segment_keys(map(str, range(3000)))
    order = rng.permutation(3000)
    plain = resampled_sums(rows, 300, 1, keys)
    np.testing.assert_array_equal(resampled_sums(rows[order], 300, 1, keys[order]), plain)
    blanks = np.concatenate([np.zeros((500, 3)), rows])
    more = segment_keys([*(f"other {number}" for number in range(500)), *map(str, range(3000))])
    assert resampled_sums(blanks, 300, 1, more) == pytest.approx(plain, rel=1e-12, abs=1e-9)


def test_the_number_of_cores_changes_no_bit(monkeypatch):
    rows = np.random.default_rng(0).normal(size=(1500, 4))
    everywhere = resampled_sums(rows, 1000, 1)
    monkeypatch.setenv("BABELQUAKE_CORES", "1")
    np.testing.assert_array_equal(resampled_sums(rows, 1000, 1), everywhere)


def test_an_empty_resample_is_the_data_themselves():
    """Of two segments, e⁻² of the resamples hold none; both are held equally often in e⁻²·Σ1/k!² = .308 of them."""
    drawn = bootstrap(mean, [with_ones(np.array([1.0, 3.0]))], resamples=4000)
    assert np.isfinite(drawn.values).all()
    assert (drawn.values == 2.0).mean() == pytest.approx(0.308, abs=0.03)


def test_no_resamples_are_refused():
    with pytest.raises(UserError, match="at least 1 resample"):
        resampled_sums(np.ones((3, 1)), 0)
