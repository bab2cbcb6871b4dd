"""Rank-sum matrices and clusters."""

import numpy as np
import pytest

from babelquake.stats.ranks import Place, clusters, rank_sum_matrix


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
