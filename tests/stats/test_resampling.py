import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babelquake.errors import UserError
from babelquake.stats.resampling import MARGIN, _poisson_edges, resample_counts, swap_masks


def counts_of(segments, resamples, seed=0):
    return np.concatenate(list(resample_counts(segments, resamples, seed)))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 400), st.integers(1, 60), st.integers(0, 2**32))
def test_every_resample_is_as_large_as_the_data(segments, resamples, seed):
    counts = counts_of(segments, resamples, seed)
    assert counts.shape == (resamples, segments)
    assert np.all(counts.sum(axis=1, dtype=int) == segments)


@pytest.mark.parametrize("segments", [3, 1000, 200_000])
def test_the_first_resamples_do_not_depend_on_how_many_are_drawn(segments):
    few, more = counts_of(segments, 5, seed=7), counts_of(segments, 9, seed=7)
    np.testing.assert_array_equal(few, more[:5])
    assert not np.array_equal(counts_of(segments, 5, seed=8), few)


def test_small_resamples_follow_the_multinomial_law():
    """Of the 27 ways to draw 3 from 3, 6 take each once, 3 take one thing three times, 18 leave one out."""
    counts = counts_of(3, 54_000)
    largest = np.bincount(counts.max(axis=1), minlength=4)
    assert largest[1:] / 54_000 == pytest.approx([6 / 27, 18 / 27, 3 / 27], abs=0.008)


@pytest.mark.parametrize("segments", [7, 30, 500])
def test_counts_have_multinomial_moments(segments):
    """Var = 1 − 1/n and Cov = −1/n; a count is 0 with probability (1 − 1/n)ⁿ."""
    counts = counts_of(segments, 4_000_000 // segments, seed=3).astype(float)
    assert counts.var() == pytest.approx(1 - 1 / segments, rel=0.005)
    assert (counts == 0).mean() == pytest.approx((1 - 1 / segments) ** segments, rel=0.005)
    assert counts.mean(axis=0) == pytest.approx(np.ones(segments), abs=6 * len(counts) ** -0.5)
    assert np.cov(counts[:, 0], counts[:, 1])[0, 1] == pytest.approx(-1 / segments, abs=5 * len(counts) ** -0.5)


def test_swaps_are_fair_and_keyed():
    masks = np.concatenate(list(swap_masks(999, 500, seed=1)))
    assert masks.shape == (500, 999)
    assert set(np.unique(masks)) == {0, 1}
    assert masks.mean() == pytest.approx(0.5, abs=0.005)
    np.testing.assert_array_equal(masks[:200], np.concatenate(list(swap_masks(999, 200, seed=1))))


@pytest.mark.parametrize(("segments", "resamples", "seed"), [(0, 10, 0), (10, 0, 0), (10, 10, -1)])
def test_nothing_to_draw_is_said(segments, resamples, seed):
    with pytest.raises(UserError, match="at least 1"):
        list(resample_counts(segments, resamples, seed))


def test_rounded_poisson_counts_keep_the_variance_of_poisson_counts():
    """Variance equals mean, to 4 parts in 10,000, for every number of segments that uses them."""
    for segments in [*range(7, 3000), 10**4, 10**5, 10**6]:
        edges = _poisson_edges(1 - MARGIN / segments**0.5)
        share, count = np.diff([0, *edges, 2**16]) / 2**16, np.arange(len(edges) + 1)
        mean = share @ count
        assert share @ count**2 - mean**2 == pytest.approx(mean, rel=4e-4), segments
