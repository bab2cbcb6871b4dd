import numpy as np
import pytest

from babelquake.errors import UserError
from babelquake.stats.ranks import can_separate, rank_sum, signed_rank


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
