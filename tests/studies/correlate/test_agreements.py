"""Agreement with human judgements on tables small enough to do by hand."""

import numpy as np
import polars as pl
import pytest

from babelquake.stats.bootstrap import Resampled
from babelquake.studies.correlate.agreements import agreements, averaged, parts_by_pair, score_tables, with_averages


def judged(scores: list[float | None], systems: str = "ABAB", ids: str = "1122", pair: str = "hi-bn") -> pl.DataFrame:
    return pl.DataFrame(
        {"id": list(ids), "system": list(systems), "score": scores, "language_pair": [pair] * len(scores)},
        schema_overrides={"score": pl.Float64},
    )


def test_tables_of_systems_by_items() -> None:
    human, metric = score_tables(judged([80, 40, None, 10]), np.array([1.0, 2, 3, 4]))
    np.testing.assert_array_equal(human, [[80, np.nan], [40, 10]])
    np.testing.assert_array_equal(metric, [[1, 3], [2, 4]])


def test_only_clear_preferences_count_and_ties_are_against_the_metric() -> None:
    segments = judged([90, 60, 10, 40, 50, 30], "ABABAB", "112233")
    for scores, expected in (([2, 1, 1, 2, 0, 1], 1.0), ([2, 1, 2, 1, 0, 1], 0.0), ([1, 1, 1, 1, 0, 1], -1.0)):
        found = agreements(segments, None, np.array(scores, float), ["kendall_like"], resamples=20, seed=0)
        assert found["kendall_like"][0].value == expected
    strict = agreements(
        segments, None, np.array([2, 1, 2, 1, 0, 1.0]), ["kendall_like"], resamples=20, seed=0, threshold=20
    )
    assert strict["kendall_like"][0].value == pytest.approx(-1 / 3)


def test_better_worse_pairs() -> None:
    segments = judged([None] * 4)
    pairs = pl.DataFrame({"better": [0, 2, 3, 0], "worse": [1, 3, 2, 1]})
    found = agreements(segments, pairs, np.array([5.0, 4, 7, 3]), ["darr", "pearson"], resamples=20, seed=0)
    assert found.keys() == {"darr"}
    assert found["darr"][0].value == (3 - 1) / 4 and found["darr"][1] == 4


def test_one_system_has_no_pairs_to_compare() -> None:
    segments = judged([10, 20, 40], "AAA", "123")
    found = agreements(segments, None, np.array([1.0, 2, 4]), ["pearson", "kendall_like"], resamples=20, seed=0)
    assert found.keys() == {"pearson"} and found["pearson"][0].value == pytest.approx(1)


def test_the_average_is_taken_over_language_pairs_with_their_own_resamples() -> None:
    one, two = Resampled(0.2, np.array([0.1, 0.3])), Resampled(0.6, np.array([0.7, 0.5]))
    mean = averaged([one, two])
    assert mean.value == pytest.approx(0.4)
    np.testing.assert_allclose(mean.values, [0.4, 0.4])
    found = {("hi-bn", "chrf"): {"darr": (one, 10), "pearson": (one, 9)}, ("xh-zu", "chrf"): {"darr": (two, 30)}}
    rows = with_averages(found, ("language_pair", "scorer"))
    average = [row for row in rows if row["language_pair"] == "average"]
    assert [(row["measure"], row["value"], row["n"]) for row in average] == [("darr", pytest.approx(0.4), 40)]


def test_pairs_are_renumbered_within_their_language_pair() -> None:
    segments = pl.concat([judged([1, 2], "AB", "11", "a-b"), judged([3, 4, 5], "ABC", "111", "c-d")])
    pairs = pl.DataFrame({"better": [1, 4, 2], "worse": [0, 3, 4]})
    (first, _, mine, rows), (second, part, theirs, others) = parts_by_pair(segments, pairs)
    assert (first, second) == ("a-b", "c-d") and part.height == 3
    assert mine is not None and mine.rows() == [(1, 0)] and list(rows) == [0, 1]
    assert theirs is not None and theirs.rows() == [(2, 1), (0, 2)] and list(others) == [2, 3, 4]
