"""Compiled resampling is the interpreted one, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babelquake.stats import bootstrap
from babelquake.stats.bootstrap import resampled_sums, weighted_sums
from babelquake.stats.compiled_resampling import tile_of
from babelquake.stats.resampling import Draws, keys_by_place, segment_keys


@settings(max_examples=30, deadline=None)
@given(
    names=st.lists(st.text(), min_size=1, max_size=30, unique=True),
    seed=st.integers(0, 2**40),
    first=st.integers(0, 40).map(lambda block: 64 * block),
    count=st.integers(1, 256),
)
def test_counts_are_those_of_the_stream(names: list[str], seed: int, first: int, count: int) -> None:
    draws = Draws(segment_keys(names), "resample", seed)
    np.testing.assert_array_equal(tile_of(draws.starts, first, count), draws.tile(slice(None), first, count))


@pytest.mark.parametrize("kind", ["whole", "large whole", "broken"])
@pytest.mark.parametrize(("segments", "resamples"), [(1500, 300), (511, 257), (513, 1)])
def test_sums_do_not_depend_on_who_computes_them(
    kind: str, segments: int, resamples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(segments)
    rows = rng.normal(size=(segments, 7)) if kind == "broken" else rng.integers(-90, 90, (segments, 7)).astype(float)
    rows *= 1e6 if kind == "large whole" else 1
    draws = Draws(keys_by_place(segments), "resample", 3)
    plain = weighted_sums(rows, draws, resamples)
    monkeypatch.setattr(bootstrap, "WORTH_THREADS", 0)
    np.testing.assert_array_equal(weighted_sums(rows, draws, resamples), plain)


def test_the_order_of_memory_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "WORTH_THREADS", 0)
    rows = np.random.default_rng(0).integers(0, 50, (700, 3)).astype(float)
    np.testing.assert_array_equal(resampled_sums(np.asfortranarray(rows), 100), resampled_sums(rows, 100))
    np.testing.assert_array_equal(resampled_sums(rows[::2], 100), resampled_sums(rows[::2].copy(), 100))
