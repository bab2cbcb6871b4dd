"""Agreement with human judgements on tables small enough to do by hand."""

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest

from babelquake.stats.bootstrap import Resampled
from babelquake.studies.agreement import How, agreement_cell, agreement_measures, difference, judgements
from babelquake.studies.cells import Cell, Place, mean_of


def judged(
    scores: Sequence[float | None], systems: str = "ABAB", ids: str = "1122", pair: str = "hi-bn"
) -> pl.DataFrame:
    return pl.DataFrame(
        {"id": list(ids), "system": list(systems), "score": scores, "language_pair": [pair] * len(scores)},
        schema_overrides={"score": pl.Float64},
    )


def agreement(
    segments: pl.DataFrame,
    pairs: pl.DataFrame | None,
    values: Sequence[float],
    statistics: Sequence[str],
    threshold: float = 25.0,
) -> Cell:
    (given,) = judgements(segments, pairs)
    scores = np.array(values, dtype=float)
    return agreement_cell(Place("hi-bn", "mine"), given, scores, statistics, How(20, 0, threshold))


def test_tables_of_systems_by_items() -> None:
    (given,) = judgements(judged([80, 40, None, 10]), None)
    np.testing.assert_array_equal(given.human, [[80, np.nan], [40, 10]])
    np.testing.assert_array_equal(given.table(np.array([1.0, 2, 3, 4])), [[1, 3], [2, 4]])


def test_only_clear_preferences_count_and_ties_are_against_the_metric() -> None:
    segments = judged([90, 60, 10, 40, 50, 30], "ABABAB", "112233")
    for scores, expected in (([2, 1, 1, 2, 0, 1], 1.0), ([2, 1, 2, 1, 0, 1], 0.0), ([1, 1, 1, 1, 0, 1], -1.0)):
        assert agreement(segments, None, scores, ["kendall_like"]).numbers["kendall_like"].value == expected
    strict = agreement(segments, None, [2, 1, 2, 1, 0, 1], ["kendall_like"], threshold=20)
    assert strict.numbers["kendall_like"].value == pytest.approx(-1 / 3)


def test_better_worse_pairs() -> None:
    pairs = pl.DataFrame({"better": [0, 2, 3, 0], "worse": [1, 3, 2, 1]})
    found = agreement(judged([None] * 4), pairs, [5, 4, 7, 3], ["darr", "pearson"])
    assert found.numbers.keys() == {"darr"}
    assert found.numbers["darr"].value == (3 - 1) / 4 and found.sizes["darr"] == 4


def test_one_system_has_no_pairs_to_compare() -> None:
    found = agreement(judged([10, 20, 40], "AAA", "123"), None, [1, 2, 4], ["pearson", "kendall_like"])
    assert found.numbers.keys() == {"pearson"} and found.numbers["pearson"].value == pytest.approx(1)


def test_the_average_is_taken_over_language_pairs() -> None:
    segments = pl.concat([judged([1, 2, 3], "AAA", "123", "a-b"), judged([1, 3, 2], "AAA", "123", "c-d")])
    cells = [
        agreement_cell(Place(given.language_pair, "mine"), given, np.arange(3.0), ["pearson"], How(20, 0))
        for given in judgements(segments, None)
    ]
    found = {one.language_pair: (one.value, one.n) for one in agreement_measures(cells)}
    assert found == {"a-b": (pytest.approx(1), 3), "c-d": (pytest.approx(0.5), 3), "average": (pytest.approx(0.75), 6)}


def test_pairs_are_renumbered_within_their_language_pair() -> None:
    segments = pl.concat([judged([1, 2], "AB", "11", "a-b"), judged([3, 4, 5], "ABC", "111", "c-d")])
    pairs = pl.DataFrame({"better": [1, 4, 2], "worse": [0, 3, 4]})
    first, second = judgements(segments, pairs)
    assert (first.language_pair, second.language_pair) == ("a-b", "c-d")
    assert first.preferences is not None and [list(side) for side in first.preferences] == [[1], [0]]
    assert second.preferences is not None and [list(side) for side in second.preferences] == [[2, 0], [1, 2]]


def test_a_difference_of_many_deviations_is_found_and_a_scorer_is_as_good_as_itself() -> None:
    rng = np.random.default_rng(0)
    human = rng.normal(60, 20, 400)
    segments = judged(list(human), "ABCD" * 100, "".join(chr(200 + row // 4) for row in range(400)))
    (given,) = judgements(segments, None)
    good, poor = human + rng.normal(0, 10, 400), human + rng.normal(0, 200, 400)
    how = How(999, 0)
    for name in ("pearson", "kendall_like", "accuracy"):
        drawn, test = difference(name, given, good, poor, how)
        assert drawn.value > 0.2 and test.p == pytest.approx(0.001)
        assert difference(name, given, good, good, how)[1].p == 1.0


def test_numbers_with_unequally_many_resamples_have_a_mean() -> None:
    """Kendall's τ of a large language pair has 200 resamples where a small one's has more."""
    one, other = Resampled(1.0, np.arange(5.0)), Resampled(3.0, np.arange(3.0))
    found = mean_of([one, other])
    assert found.value == 2.0 and found.values.tolist() == [0.0, 1.0, 2.0]
