"""Drops, discrimination, flags and rankings, from score tables made by hand."""

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau

from babelquake.runs.info import Probe
from babelquake.runs.measures import Kind, Measure
from babelquake.scorers import MeanScorer, Questions
from babelquake.scorers.base import Array
from babelquake.spec import Spec
from babelquake.stats.agreement import rank_agreement
from babelquake.studies.cells import Scored
from babelquake.studies.qe.discrimination import probe_results, probed_models, ranking_results, rivalries, standardised

PROBES = {
    "lower-words": Probe(meaning="preserving", title="words lower-cased (MPP6)"),
    "punct-remove": Probe(meaning="preserving", title="punctuation removed (MPP1)"),
    "negation-remove": Probe(meaning="altering", title="negation removed (MAP1)"),
    "word-drop": Probe(meaning="altering", title="a content word omitted (MAP2)"),
}


class Judge(MeanScorer):
    """A scorer in name only: its scores are in the table."""

    signature = "judge"

    def __init__(self, name: str = "judge", higher: bool = True) -> None:
        self.spec = Spec(name)
        self.higher_is_better = higher  # type: ignore[misc]

    def judge(self, batch: Questions) -> Array:
        raise AssertionError("its scores are in the table")


def table(
    scores: dict[str | None, list[float | None]], scorer: str = "judge", level: float | None = None
) -> pl.LazyFrame:
    """Scores per probe, one per segment; None where the probe does not apply."""
    rows = [
        {
            "row": row,
            "language_pair": "ru-en",
            "scorer": scorer,
            "perturbation": probe,
            "statistics": [float(score), 1.0],
            "level": None if probe is None else level,
            "score": float(score),
            "changed": probe is not None,
        }
        for probe, column in scores.items()
        for row, score in enumerate(column)
        if score is not None
    ]
    return pl.DataFrame(rows, schema_overrides={"perturbation": pl.String, "level": pl.Float64}).lazy()


def probed(
    sums: pl.LazyFrame, judge: Judge | None = None, resamples: int = 200, sentences: int | None = None, **more: Any
) -> tuple[list[Measure], list[dict[str, Any]]]:
    rows = int(sums.select("row").max().collect().item()) + 1
    names = [f"sentence {row % (sentences or rows)}" for row in range(rows)]
    segments = pl.DataFrame({"row": range(rows), "source": names})
    models = list(probed_models(Scored(sums, segments, [judge or Judge()], resamples, 0), PROBES, **more))
    return probe_results(models), [flag for model in models for flag in model.flags()]


def rounded(sums: pl.LazyFrame, judge: Judge | None = None, **more: Any) -> dict[tuple[str, str | None], float]:
    measures, _ = probed(sums, judge, **more)
    return {(one.kind.name, one.perturbation): round(one.value or 0.0, 6) for one in measures}


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
        ("mpp_minus_map", None): -10.5,
        ("ordered_right", None): 100,
    }


def test_a_segment_is_ordered_right_where_harm_costs_more_than_noise() -> None:
    """The third loses 1 to each, the fourth has no harmless variant."""
    scores: dict[str | None, list[float | None]] = {
        None: [80, 80, 80, 80],
        "lower-words": [79, 70, 79, None],
        "word-drop": [60, 75, 79, 50],
    }
    measures, _ = probed(table(scores))
    (found,) = [one for one in measures if one.kind.name == "ordered_right"]
    assert (found.value, found.n) == (pytest.approx(50), 3)


def test_a_drop_is_averaged_over_the_segments_a_probe_applies_to() -> None:
    measures, _ = probed(table(SCORES))
    assert {one.perturbation: one.n for one in measures if one.kind.name == "drop"}["negation-remove"] == 2


def test_models_that_count_errors_lose_when_they_rise() -> None:
    worse = {probe: [None if score is None else 100 - score for score in column] for probe, column in SCORES.items()}
    found = rounded(table(worse), Judge(higher=False))
    assert found["drop", "word-drop"] == 20 and found["discrimination", None] == 10.5
    assert (found["score_mt", None], found["score_mpp", None], found["score_map", None]) == (20, 22, 32.5)


def test_levels_of_one_probe_are_probes_of_their_own() -> None:
    clean = table({None: [80.0, 90.0]})
    noisy = [table({"word-drop": [80.0 - loss, 90.0 - loss]}, level=level) for level, loss in ((0.1, 2), (0.3, 6))]
    measures, _ = probed(pl.concat([clean, *noisy]))
    assert [(one.level, one.value) for one in measures if one.kind.name == "drop"] == [(0.1, 2), (0.3, 6)]


def test_a_model_that_knows_clean_texts_only_has_a_mean_and_nothing_else() -> None:
    assert rounded(table(SCORES), unprobed=["judge"]) == {("score_mt", None): 80}


def test_flags_name_what_a_model_does_not_see() -> None:
    rng = np.random.default_rng(0)
    clean = 80 + rng.normal(size=60)
    losses = {"lower-words": 2.0, "punct-remove": 0.5, "negation-remove": 0.6, "word-drop": 9.0}
    columns = {probe: list(clean - loss - 0.1 * rng.random(60)) for probe, loss in losses.items()}
    _, flags = probed(table({None: list(clean), **columns}), resamples=500)
    assert [flag.text for flag in flags] == [
        "does not see: negation removed (MAP1)",
        "negation removed (MAP1) costs less than words lower-cased (MPP6)",
    ]
    assert {flag.scorer for flag in flags} == {"judge"}


def test_a_probe_of_three_segments_is_not_flagged() -> None:
    clean = list(80 + np.random.default_rng(0).normal(size=60))
    lost = [0.1 + 0.01 * place for place in range(60)]
    dear: list[float | None] = [score - 5 - loss for score, loss in zip(clean, lost, strict=True)]
    cheap: list[float | None] = [score - loss for score, loss in zip(clean, lost, strict=True)]
    for seen, flags in ((60, 2), (3, 0)):
        columns = {"lower-words": dear, "negation-remove": [*cheap[:seen], *[None] * (60 - seen)]}
        assert len(probed(table({None: [*clean], **columns}), resamples=500)[1]) == flags


def test_a_model_that_sees_everything_has_no_flag() -> None:
    _, flags = probed(table(SCORES))
    assert flags == []


def many(losses: dict[str, float], rows: int = 60) -> dict[str | None, list[float | None]]:
    rng = np.random.default_rng(0)
    clean = 80 + rng.normal(size=rows)
    return {None: list(clean)} | {probe: list(clean - loss - rng.normal(size=rows)) for probe, loss in losses.items()}


def test_every_drop_has_its_corrected_p_value() -> None:
    """Stars come from this column."""
    measures, _ = probed(table(many({"lower-words": 0.0, "word-drop": 3.0})), resamples=999)
    drops = {one.perturbation: one for one in measures if one.kind.name == "drop"}
    assert drops["word-drop"].p_corrected == pytest.approx(1 / 1000)
    assert drops["lower-words"].p_corrected >= drops["lower-words"].p > 0.05  # type: ignore[operator]
    assert drops["word-drop"].family == ("ru-en", "judge", "drop")
    (found,) = [one for one in measures if one.kind.name == "discrimination"]
    assert found.verdict == "significant"


def test_four_segments_cannot_be_tested() -> None:
    measures, _ = probed(table(SCORES))
    assert {one.verdict for one in measures if one.kind.name in ("drop", "discrimination")} == {"cannot be tested"}


def test_three_translations_of_a_sentence_are_one_unit_of_chance() -> None:
    """The same sixty scores three times over: neither the deviation nor the p-value may shrink."""
    once = many({"lower-words": 0.0, "word-drop": 0.3})
    thrice = {probe: column * 3 for probe, column in once.items()}
    one, three = (
        {found.perturbation: found for found in probed(table(scores), resamples=500, sentences=60)[0]}
        for scores in (once, thrice)
    )
    assert three["word-drop"].sd == pytest.approx(one["word-drop"].sd)
    assert three["word-drop"].p == one["word-drop"].p


def test_drops_over_changed_texts_stand_beside_all() -> None:
    sums = table(SCORES).with_columns(changed=pl.col("perturbation").is_not_null() & (pl.col("row") < 2))
    drops = [one for one in probed(sums)[0] if one.perturbation == "word-drop"]
    assert [(one.kind.name, one.n, one.changed) for one in drops] == [("drop", 4, 2), ("drop_changed", 2, 2)]


def measure(scorer: str, name: str, value: float, **more: float) -> Measure:
    return Measure(Kind(name), value, language_pair="ru-en", scorer=scorer, **more)  # type: ignore[arg-type]


def test_rankings_by_discrimination_and_by_pearson() -> None:
    given = [measure(name, "discrimination_standardised", value) for name, value in (("a", 3), ("b", 5), ("c", 1))]
    given += [measure(name, "discrimination", value) for name, value in (("a", 0.3), ("b", 0.5), ("c", 7.0))]
    given += [measure(name, "pearson", value) for name, value in (("a", 0.4), ("b", 0.7), ("c", 0.4), ("ready", 0.5))]
    found = ranking_results(given, 0, {})

    def ranks(name: str) -> dict[str | None, float | None]:
        return {one.scorer: one.value for one in found if one.kind.name == name}

    assert ranks("rank_discrimination") == {"b": 1, "a": 2, "c": 3}
    assert ranks("rank_mpp_minus_map") == {"c": 1, "b": 2, "a": 3}
    assert ranks("rank_pearson") == {"b": 1, "ready": 2, "a": 3, "c": 3}
    standard, raw = (ranks(name)[None] for name in ("rank_agreement", "rank_agreement_raw"))
    assert (standard, raw) == (pytest.approx(2 / 3), pytest.approx(0))


def test_models_on_different_scales_are_compared_in_units_of_their_own() -> None:
    given = [
        measure(name, "discrimination", value, sd=0.1 * value, low=value - 1, high=value + 1)
        for name, value in (("percent", 8.0), ("share", 0.2), ("constant", 0.0))
    ]
    spreads = {("ru-en", "percent"): 20.0, ("ru-en", "share"): 0.1, ("ru-en", "constant"): 0.0}
    scaled = {one.scorer: (one.value, one.sd) for one in standardised(given, spreads)}
    assert scaled == {"percent": pytest.approx((0.4, 0.04)), "share": pytest.approx((2.0, 0.2))}


def test_the_agreement_of_rankings_has_its_interval_over_resamples() -> None:
    values = {"a": (1.0, 0.3), "b": (2.0, 0.5), "c": (3.0, 0.7)}
    by = ("discrimination", "pearson")
    given = [measure(name, kind, value) for name, both in values.items() for kind, value in zip(by, both, strict=True)]
    drawn = {
        (kind, "ru-en", name): np.array([value, value, -value, -value] if kind == "pearson" else [value] * 4)
        for name, both in values.items()
        for kind, value in zip(by, both, strict=True)
    }
    (found,) = [one for one in ranking_results(given, 0, drawn) if one.kind.name == "rank_agreement_raw"]
    assert (found.value, found.low, found.high) == (pytest.approx(1), pytest.approx(-1), pytest.approx(1))


def test_two_models_cannot_agree_by_more_than_chance() -> None:
    given = [
        measure(name, by, value)
        for (name, value), by in product((("a", 1), ("b", 2)), ("discrimination_standardised", "pearson"))
    ]
    assert all(one.kind.name != "rank_agreement" for one in ranking_results(given, 0, {}))


@pytest.mark.parametrize(("models", "outcome"), [("abc", "cannot be tested"), ("abcd", "significant")])
def test_three_models_in_one_order_prove_no_agreement(models: str, outcome: str) -> None:
    """No p below 1/6 is possible with three."""
    by = ("discrimination_standardised", "pearson")
    given = [measure(name, one, place) for place, name in enumerate(models) for one in by]
    (found,) = [one for one in ranking_results(given, 0, {}) if one.kind.name == "rank_agreement"]
    assert found.value == 1 and found.verdict == outcome


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


def noisy(name: str, seed: int, seen: float, n: int = 80) -> pl.LazyFrame:
    """A model that takes about `seen` points off under harmful changes and none under harmless ones."""
    rng = np.random.default_rng(seed)
    clean = rng.normal(80, 5, n)
    columns = {probe: clean - seen * (probe in ("negation-remove", "word-drop")) for probe in PROBES}
    scores = {None: clean, **{probe: column + rng.normal(0, 2, n) for probe, column in columns.items()}}
    return table({probe: column.tolist() for probe, column in scores.items()}, name)


def rivals(*models: pl.LazyFrame, spread: float = 5.0) -> dict[tuple[str | None, str | None], Measure]:
    sums = pl.concat(models)
    names = sums.select("scorer").unique(maintain_order=True).collect()["scorer"].to_list()
    segments = pl.DataFrame({"row": range(80), "source": [f"sentence {row}" for row in range(80)]})
    found = list(probed_models(Scored(sums, segments, [Judge(name) for name in names], 400, 0), PROBES))
    spreads: dict[tuple[str | None, str], float] = {("ru-en", name): spread for name in names}
    return {(one.scorer, one.other): one for one in rivalries(found, spreads)}


def test_models_are_compared_in_pairs_in_their_own_standard_deviations() -> None:
    good, poor, same = noisy("good", 1, 6), noisy("poor", 2, 2), noisy("same", 1, 6)
    found = rivals(good, poor, same)
    assert list(found) == [("good", "poor"), ("good", "same"), ("poor", "same")]
    clear, none = found["good", "poor"], found["good", "same"]
    assert clear.value == pytest.approx((6 - 2) / 5, abs=0.1) and clear.verdict == "significant"
    assert none.value == 0 and none.p == 1
    alone = rivals(good, poor)["good", "poor"]
    assert (alone.p_corrected, alone.low) == (clear.p_corrected, clear.low)


def test_models_without_a_spread_are_not_compared() -> None:
    assert rivals(noisy("good", 1, 6), noisy("poor", 2, 2), spread=0.0) == {}
