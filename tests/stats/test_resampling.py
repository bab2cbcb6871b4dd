import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babelquake.errors import UserError
from babelquake.stats.resampling import Draws, keys_by_place, least_draws, segment_keys


def counts_of(keys, draws, chance="resample", seed=0):
    return np.concatenate(list(Draws(keys, chance, seed).rows(draws)))


@pytest.mark.parametrize("chance", ["resample", "swap"])
@settings(max_examples=20, deadline=None)
@given(names=st.lists(st.text(), min_size=1, max_size=40, unique=True), seed=st.integers(0, 2**40), data=st.data())
def test_a_segment_draws_the_same_wherever_it_stands_and_whoever_is_there(chance, names, seed, data):
    chosen = data.draw(st.lists(st.sampled_from(range(len(names))), min_size=1, unique=True))
    everything = counts_of(segment_keys(names), 130, chance, seed)
    some = counts_of(segment_keys(names[place] for place in chosen), 130, chance, seed)
    np.testing.assert_array_equal(some, everything[:, chosen])


@pytest.mark.parametrize("chance", ["resample", "swap"])
def test_the_first_draws_do_not_depend_on_how_many_are_made(chance):
    keys = keys_by_place(700)
    few, more = counts_of(keys, 5, chance, seed=7), counts_of(keys, 300, chance, seed=7)
    np.testing.assert_array_equal(few, more[:5])
    np.testing.assert_array_equal(Draws(keys, chance, 7).tile(slice(10, 20), 64, 30).T, more[64:94, 10:20])
    assert not np.array_equal(counts_of(keys, 5, chance, seed=8), few)


def test_counts_are_poisson_and_independent():
    """P(k) = e⁻¹/k!, to the 2⁻¹⁶ that sixteen bits allow; neighbours and successive draws are unrelated."""
    counts = counts_of(keys_by_place(2000), 2000, seed=3).astype(float)
    for number, share in enumerate([1, 1, 1 / 2, 1 / 6, 1 / 24]):
        assert (counts == number).mean() == pytest.approx(share / np.e, rel=0.01)
    assert counts.mean() == pytest.approx(1, abs=0.002)
    assert counts.var() == pytest.approx(1, abs=0.004)
    assert abs(np.corrcoef(counts[:, :-1].ravel(), counts[:, 1:].ravel())[0, 1]) < 0.003
    assert abs(np.corrcoef(counts[:-1].ravel(), counts[1:].ravel())[0, 1]) < 0.003
    assert counts.sum(axis=1).var() == pytest.approx(2000, rel=0.15)


def test_swaps_are_fair():
    masks = counts_of(keys_by_place(999), 500, "swap", seed=1)
    assert masks.shape == (500, 999)
    assert set(np.unique(masks)) == {0, 1}
    assert masks.mean() == pytest.approx(0.5, abs=0.005)
    assert masks.mean(axis=0) == pytest.approx(np.full(999, 0.5), abs=0.11)


def test_resamples_and_swaps_of_one_seed_have_nothing_to_do_with_each_other():
    keys = keys_by_place(3000)
    resampled, swapped = (counts_of(keys, 64, chance).ravel() for chance in ("resample", "swap"))
    assert abs(np.corrcoef(resampled, swapped)[0, 1]) < 0.01


def test_equal_texts_are_one_segment_and_lone_surrogates_are_text():
    keys = segment_keys(["a", "b", "a", "\ud800"])
    assert keys[0] == keys[2]
    assert len(set(keys.tolist())) == 3


def test_enough_draws_for_a_level():
    assert 1 / (least_draws(0.05) + 1) == pytest.approx(0.05 / 20)


@pytest.mark.parametrize(("segments", "seed"), [(0, 0), (10, -1)])
def test_nothing_to_draw_is_said(segments, seed):
    with pytest.raises(UserError, match="at least 1"):
        Draws(keys_by_place(segments), "resample", seed)
