"""Drops, discrimination, flags and rankings, from score tables made by hand."""

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau

from babelquake.scorers import MeanScorer, Questions
from babelquake.scorers.base import Array
from babelquake.spec import Spec
from babelquake.studies.qe.discrimination import probe_results, rank_agreement, ranking_results, standardised

PROBES = {
    "lower-words": {"meaning": "preserving", "title": "words lower-cased (MPP6)"},
    "punct-remove": {"meaning": "preserving", "title": "punctuation removed (MPP1)"},
    "negation-remove": {"meaning": "altering", "title": "negation removed (MAP1)"},
    "word-drop": {"meaning": "altering", "title": "a content word omitted (MAP2)"},
}


class Judge(MeanScorer):
    """A scorer in name only: its scores are in the table."""

    signature = "judge"

    def __init__(self, name: str = "judge", higher: bool = True) -> None:
        self.spec = Spec(name)
        self.higher_is_better = higher  # type: ignore[misc]

    def judge(self, batch: Questions) -> Array:
        raise NotImplementedError


def table(
    scores: dict[str | None, list[float | None]], scorer: str = "judge", level: float | None = None
) -> pl.LazyFrame:
    """Scores per probe, one per segment; None where the probe does not apply."""
    rows = [
        {"row": row, "language_pair": "ru-en", "scorer": scorer, "perturbation": probe,
         "statistics": [float(score), 1.0], "level": None if probe is None else level, "score": float(score)}
        for probe, column in scores.items()
        for row, score in enumerate(column)
        if score is not None
    ]  # fmt: skip
    return pl.DataFrame(rows, schema_overrides={"perturbation": pl.String, "level": pl.Float64}).lazy()


def rounded(sums: pl.LazyFrame, judge: Judge | None = None, **more: object) -> dict[tuple[str, str | None], float]:
    rows, _ = probe_results(sums, [judge or Judge()], PROBES, 200, 0, **more)  # type: ignore[arg-type]
    return {(row["measure"], row.get("perturbation")): round(row["value"], 6) for row in rows}


SCORES: dict[str | None, list[float | None]] = {
    None: [80, 90, 70, 80],
    "lower-words": [79, 89, 69, 79],
    "punct-remove": [77, 87, 67, 77],
    "negation-remove": [None, 85, None, 75],
    "word-drop": [60, 70, 50, 60],
}


def test_means_drops_and_discrimination_by_hand() -> None:
    assert rounded(table(SCORES)) == {
        ("score_mt", None): 80,
        ("score_mpp", None): 78,
        ("score_map", None): 67.5,
        ("drop", "lower-words"): 1,
        ("drop", "punct-remove"): 3,
        ("drop", "negation-remove"): 5,
        ("drop", "word-drop"): 20,
        ("discrimination", None): 10.5,
    }


def test_a_drop_is_averaged_over_the_segments_a_probe_applies_to() -> None:
    rows, _ = probe_results(table(SCORES), [Judge()], PROBES, 200, 0)
    assert {row["perturbation"]: row["n"] for row in rows if row["measure"] == "drop"}["negation-remove"] == 2


def test_models_that_count_errors_lose_when_they_rise() -> None:
    worse = {probe: [None if score is None else 100 - score for score in column] for probe, column in SCORES.items()}
    found = rounded(table(worse), Judge(higher=False))
    assert found["drop", "word-drop"] == 20 and found["discrimination", None] == 10.5
    assert (found["score_mt", None], found["score_mpp", None], found["score_map", None]) == (20, 22, 32.5)


def test_levels_of_one_probe_are_probes_of_their_own() -> None:
    clean = table({None: [80.0, 90.0]})
    noisy = [table({"word-drop": [80.0 - loss, 90.0 - loss]}, level=level) for level, loss in ((0.1, 2), (0.3, 6))]
    rows, _ = probe_results(pl.concat([clean, *noisy]), [Judge()], PROBES, 100, 0)
    assert [(row["level"], row["value"]) for row in rows if row["measure"] == "drop"] == [(0.1, 2), (0.3, 6)]


def test_a_model_that_knows_clean_texts_only_has_a_mean_and_nothing_else() -> None:
    assert rounded(table(SCORES), unprobed=["judge"]) == {("score_mt", None): 80}


def test_flags_name_what_a_model_does_not_see() -> None:
    rng = np.random.default_rng(0)
    clean = 80 + rng.normal(size=60)
    losses = {"lower-words": 2.0, "punct-remove": 0.5, "negation-remove": 0.6, "word-drop": 9.0}
    columns = {probe: list(clean - loss - 0.1 * rng.random(60)) for probe, loss in losses.items()}
    _, flags = probe_results(table({None: list(clean), **columns}), [Judge()], PROBES, 500, 0)
    assert [flag["text"] for flag in flags] == [
        "does not see: negation removed (MAP1)",
        "negation removed (MAP1) costs less than words lower-cased (MPP6)",
    ]
    assert {flag["scorer"] for flag in flags} == {"judge"}


def test_a_model_that_sees_everything_has_no_flag() -> None:
    _, flags = probe_results(table(SCORES), [Judge()], PROBES, 200, 0)
    assert flags == []


def row(scorer: str, measure: str, value: float) -> dict[str, object]:
    return {"language_pair": "ru-en", "scorer": scorer, "measure": measure, "value": value}


def test_rankings_by_discrimination_and_by_pearson() -> None:
    rows = [row(name, "discrimination_standardised", value) for name, value in (("a", 3), ("b", 5), ("c", 1))]
    rows += [row(name, "pearson", value) for name, value in (("a", 0.4), ("b", 0.7), ("c", 0.4), ("ready", 0.5))]
    found = ranking_results(rows, 0)
    ranks = {(one["scorer"], one["measure"]): one["value"] for one in found if one["measure"].startswith("rank_d")}
    assert ranks == {("b", "rank_discrimination"): 1, ("a", "rank_discrimination"): 2, ("c", "rank_discrimination"): 3}
    pearson = {one["scorer"]: one["value"] for one in found if one["measure"] == "rank_pearson"}
    assert pearson == {"b": 1, "ready": 2, "a": 3, "c": 3}
    (agreement,) = [one for one in found if one["measure"] == "rank_agreement"]
    assert agreement["n"] == 3 and agreement["value"] == pytest.approx(2 / 3)


def test_models_on_different_scales_are_compared_in_units_of_their_own() -> None:
    rows: list[dict[str, Any]] = [
        {**row(name, "discrimination", value), "sd": 0.1 * value, "low": value - 1, "high": value + 1}
        for name, value in (("percent", 8.0), ("share", 0.2), ("constant", 0.0))
    ]
    spreads = {("ru-en", "percent"): 20.0, ("ru-en", "share"): 0.1, ("ru-en", "constant"): 0.0}
    scaled = {one["scorer"]: (one["value"], one["sd"]) for one in standardised(rows, spreads)}
    assert scaled == {"percent": pytest.approx((0.4, 0.04)), "share": pytest.approx((2.0, 0.2))}


def test_two_models_cannot_agree_by_more_than_chance() -> None:
    rows = [
        row(name, measure, value)
        for (name, value), measure in product((("a", 1), ("b", 2)), ("discrimination_standardised", "pearson"))
    ]
    assert all(one["measure"] != "rank_agreement" for one in ranking_results(rows, 0))


def test_exact_p_values_of_rank_agreement() -> None:
    ranks = np.arange(4.0)
    assert rank_agreement(ranks, ranks, 0) == (1.0, pytest.approx(1 / 24))
    assert rank_agreement(ranks, ranks[::-1], 0) == (-1.0, 1.0)
    swapped = np.array([0.0, 1, 3, 2])
    tau, p = rank_agreement(ranks, swapped, 0)
    assert tau == pytest.approx(kendalltau(ranks, swapped).statistic)
    assert p == pytest.approx(kendalltau(ranks, swapped, alternative="greater", method="exact").pvalue)


def test_many_models_get_a_drawn_p_value_that_is_never_zero() -> None:
    ranks = np.arange(12.0)
    tau, p = rank_agreement(ranks, ranks, 0, draws=1000)
    assert tau == 1 and p == pytest.approx(1 / 1000)
