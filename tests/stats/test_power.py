"""How many scores would a rank-sum test need?"""

import math

import numpy as np
import pytest

from babelquake.stats.ranks import rank_sum, rank_sum_size


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
