import gzip
from itertools import combinations

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from babelquake.errors import UserError
from babelquake.stats.agreement import (
    AGREEMENTS,
    accuracy,
    agreement,
    auc,
    calibrated_accuracy,
    concordance,
    darr,
    darr_rows,
    kendall,
    kendall_like,
    moments,
    pearson,
    pearson_of_moments,
    soft_accuracy,
    spearman,
)
from babelquake.stats.agreement_bootstrap import bootstrap_agreement

SCIPY = {
    pearson: scipy_stats.pearsonr,
    spearman: scipy_stats.spearmanr,
    kendall: scipy_stats.kendalltau,
}
pytestmark = pytest.mark.filterwarnings("ignore::scipy.stats.ConstantInputWarning")


@st.composite
def tables(draw, missing=True):
    """Human and metric tables of few distinct values, so with ties, constants and gaps."""
    systems, items = draw(st.integers(1, 5)), draw(st.integers(1, 8))
    value = st.integers(0, 4).map(float)
    cell = st.one_of(value, value, value, st.just(float("nan"))) if missing else value
    return tuple(
        np.array(draw(st.lists(kind, min_size=systems * items, max_size=systems * items))).reshape(systems, items)
        for kind in (cell, value)
    )


def by_the_book(function, human, metric, by):
    """Group by group with SciPy, undefined groups left out, as mt-metrics-eval averages."""
    groups = {
        "none": [(human.ravel(), metric.ravel())],
        "system": list(zip(human, metric, strict=True)),
        "item": list(zip(human.T, metric.T, strict=True)),
    }[by]
    values = []
    for judged, scored in groups:
        known = ~np.isnan(judged)
        if known.sum() > 1:
            values.append(function(judged[known], scored[known]).statistic)
    return np.nanmean(values) if np.any(~np.isnan(values)) else np.nan


@pytest.mark.parametrize("by", ["none", "item", "system"])
@pytest.mark.parametrize("statistic", list(SCIPY))
@settings(max_examples=40, deadline=None)
@given(tables())
def test_grouped_correlations_equal_scipys_averaged(statistic, by, both):
    human, metric = both
    expected = by_the_book(SCIPY[statistic], human, metric, by)
    assert float(statistic(human, metric, by)) == pytest.approx(expected, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("entries", [63, 64, 500])
def test_long_and_short_vectors_have_scipys_tau_b(entries):
    human, metric = np.random.default_rng(entries).integers(0, 30, (2, entries)).astype(float)
    assert kendall(human, metric) == pytest.approx(scipy_stats.kendalltau(human, metric).statistic)


@pytest.mark.parametrize("name", list(AGREEMENTS))
@pytest.mark.parametrize("by", ["none", "item", "system"])
def test_a_stack_of_tables_gives_each_tables_agreement(name, by):
    rng = np.random.default_rng(2)
    human, metrics = rng.integers(0, 100, (5, 12)).astype(float), rng.normal(size=(2, 3, 5, 12))
    human[1, 3] = np.nan
    stacked = agreement(name)(human, metrics, by)
    assert stacked.shape == (2, 3)
    single = [[float(agreement(name)(human, table, by)) for table in row] for row in metrics]
    np.testing.assert_allclose(stacked, single, atol=1e-12)


@pytest.mark.parametrize("name", list(AGREEMENTS))
def test_a_metric_that_copies_the_humans_agrees_fully(name):
    human = np.random.default_rng(0).integers(0, 100, (6, 20)).astype(float)
    human = (human > 50).astype(float) if name == "auc" else human
    assert float(agreement(name)(human, human, "item")) == pytest.approx(1)


def test_constant_scores_have_no_correlation():
    assert np.isnan(pearson([0.1, 0.1, 0.1], [1, 2, 3]))
    assert np.isnan(spearman([1, 2, 3], [0.3, 0.3, 0.3]))


def test_moments_give_pearsons_r():
    human, metric = np.random.default_rng(1).normal(1000, 1, (2, 50))
    sums = moments(human, metric).sum(axis=0)
    assert pearson_of_moments(sums) == pytest.approx(scipy_stats.pearsonr(human, metric).statistic)


def test_misspelt_names_and_shapes_that_differ_are_refused():
    with pytest.raises(UserError, match="'kendall'"):
        agreement("kendal")
    with pytest.raises(UserError, match="'item'"):
        pearson([1, 2], [1, 2], by="items")
    with pytest.raises(UserError, match="same shape"):
        pearson([1, 2], [1, 2, 3])


def score_table(path):
    """Systems and their scores from an mt-metrics-eval file."""
    scores = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        system, value = line.split()
        scores.setdefault(system, []).append(float("nan") if value == "None" else float(value))
    return scores


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 4)), min_size=1, max_size=24), st.integers(0, 60))
def test_kendall_like_counts_pairs_as_the_metrics_task_does(entries, threshold):
    human, metric = np.array(entries, dtype=float).T
    concordant = discordant = 0
    for (judged, scored), (other_judged, other_scored) in combinations(entries, 2):
        if judged != other_judged and abs(judged - other_judged) >= threshold:
            agrees = (judged - other_judged) * (scored - other_scored) > 0
            concordant, discordant = concordant + agrees, discordant + (not agrees)
    pairs = concordant + discordant
    expected = (concordant - discordant) / pairs if pairs else float("nan")
    assert float(kendall_like(human, metric, "none", threshold)) == pytest.approx(expected, nan_ok=True)


def test_only_translations_of_the_same_sentence_are_compared():
    human = np.array([[0.0, 100.0], [30.0, 90.0]])
    metric = np.array([[0.1, 0.9], [0.2, 0.8]])
    assert kendall_like(human, metric) == 1.0
    assert kendall_like(human, -metric) == -1.0


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        ("hi-bn", {"BERTScore": 0.366, "bleurt-20": 0.499, "COMET-DA_2020": 0.518, "chrF": 0.327, "sentBLEU": 0.246}),
        ("xh-zu", {"BERTScore": 0.270, "bleurt-20": 0.363, "COMET-DA_2020": 0.281, "chrF": 0.301, "sentBLEU": 0.188}),
    ],
)
def test_wmt21_flores_agreement_is_what_was_published(shared_data, pair, expected):
    folder = shared_data / "wmt21.flores"
    human = score_table(folder / "human-scores" / f"{pair}.wmt-raw.seg.score")
    for name, value in expected.items():
        metric = score_table(folder / "metric-scores" / pair / f"{name}-ref-A.seg.score")
        found = kendall_like(np.array(list(human.values())), np.array([metric[system] for system in human]))
        assert round(float(found), 3) == value, name


def test_darr_by_hand_with_a_tie_against_the_metric():
    assert darr([3, 2, 1, 1], [1, 1, 1, 2]) == 0.0


def test_pairs_summed_by_segment_are_the_same_pairs():
    better, worse = np.random.default_rng(0).normal(size=(2, 40))
    segments = np.random.default_rng(1).integers(0, 9, 40) * 100
    rows = darr_rows(better, worse, segments)
    assert rows.shape == (len(np.unique(segments)), 2)
    assert rows[0].sum() == (segments == segments.min()).sum()
    assert concordance(rows.sum(axis=0)) == darr(better, worse)


def test_uneven_pairs_and_negative_thresholds_are_refused():
    with pytest.raises(UserError, match="worse"):
        darr([1, 2], [1])
    with pytest.raises(UserError, match="threshold"):
        kendall_like([1, 2], [1, 2], "none", threshold=-1)


@pytest.mark.slow
def test_darr_of_wmt19_lithuanian_is_what_was_measured(shared_data):
    """On clean references; on attacked ones and with BLEU in the tests of the study `metric`."""
    folder = shared_data / "wmt19-darr" / "lt-en"
    lines = (folder / "references.txt").read_text(encoding="utf-8").split("\n")
    with gzip.open(folder / "darr.tsv.gz", "rt", encoding="utf-8", newline="\n") as file:
        rows = [line.rstrip("\n").split("\t") for line in file][1:]
    chrf, scores = sacrebleu.CHRF(), {}
    for segment, _, _, *translations in rows:
        for translation in translations:
            if (segment, translation) not in scores:
                scores[segment, translation] = chrf.sentence_score(translation, [lines[int(segment)]]).score
    better, worse = ([scores[row[0], row[column]] for row in rows] for column in (3, 4))
    assert len(rows) == 21_862
    assert round(float(darr(better, worse)), 3) == 0.304


def brute_force(human, metric, epsilon):
    """acc_eq averaged over the segments that have a pair (Deutsch et al. 2023)."""
    shares = []
    for judged, scored in zip(human.T, metric.T, strict=True):
        known = [(h, m) for h, m in zip(judged, scored, strict=True) if not np.isnan(h)]
        right = [
            (a[0] == b[0]) if abs(a[1] - b[1]) <= epsilon else (a[0] - b[0]) * (a[1] - b[1]) > 0
            for a, b in combinations(known, 2)
        ]
        if right:
            shares.append(np.mean(right))
    return np.mean(shares) if shares else np.nan


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_calibration_finds_the_best_epsilon_there_is(data):
    systems, items = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 6))
    size = {"min_size": systems * items, "max_size": systems * items}
    grades = st.one_of(st.integers(0, 3).map(float), st.just(float("nan")))
    human = np.array(data.draw(st.lists(grades, **size))).reshape(systems, items)
    metric = np.array(data.draw(st.lists(st.integers(0, 12).map(float), **size))).reshape(systems, items)
    found = calibrated_accuracy(human, metric)
    best = [brute_force(human, metric, epsilon) for epsilon in range(13)]
    assert found.accuracy == pytest.approx(np.max(best), nan_ok=True)
    if not np.isnan(found.accuracy):
        assert found.epsilon == int(np.argmax(np.array(best) > np.max(best) - 1e-9))


def test_humans_who_see_no_difference_want_everything_tied():
    found = calibrated_accuracy(np.ones((3, 4)), np.arange(12.0).reshape(3, 4))
    assert (found.accuracy, found.epsilon) == (1.0, 8.0)


def test_more_pairs_than_can_be_sorted_are_refused():
    with pytest.raises(UserError, match="group by item"):
        accuracy(np.zeros(10_000), np.zeros(10_000), by="none")


Array = NDArray[np.float64]


def by_permutations(human: Array, metric: Array, permutations: int = 20_000) -> float:
    """1 − PCE: p is the share of exchanged sums that reach the observed one (mt-metrics-eval, `pce`)."""
    signs = np.random.default_rng(4).integers(0, 2, (permutations, human.shape[1])) * 2.0 - 1.0
    first, second = np.triu_indices(len(human), 1)
    both = []
    for scores in (human, metric):
        exchanged, observed = signs @ scores.T, scores.sum(axis=1)
        both.append((exchanged[:, first] - exchanged[:, second] >= observed[first] - observed[second]).mean(axis=0))
    return float(1 - np.abs(both[0] - both[1]).mean())


def noisy_tables(systems: int, segments: int, noise: float, seed: int = 1) -> tuple[Array, Array]:
    """Skewed human scores with many perfect translations, as MQM has, and a metric that follows them with noise."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(systems, 1)) * 0.3
    human = -np.floor(rng.exponential(2.0 - quality, size=(systems, segments)))
    return human, human + rng.normal(size=human.shape) * noise


@pytest.mark.parametrize(("segments", "noise", "within"), [(30, 3.0, 0.02), (300, 3.0, 0.005), (300, 30.0, 0.005)])
def test_it_is_what_many_permutations_give(segments: int, noise: float, within: float) -> None:
    """With few segments whole-number scores leave exchanged sums that equal the observed one, which count in full."""
    human, metric = noisy_tables(6, segments, noise)
    assert float(soft_accuracy(human, metric)) == pytest.approx(by_permutations(human, metric), abs=within)


def test_two_systems_by_hand() -> None:
    human = np.array([[3.0, 1.0, 2.0, 2.0], [1.0, 1.0, 1.0, 3.0]])  # d = 2, 0, 1, −1: z = 2/√6, p = .2071
    metric = np.array([[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]])  # d = −1, 0, 0, 1: p = .5
    assert float(soft_accuracy(human, metric)) == pytest.approx(1 - (0.5 - 0.207108), abs=1e-5)


def test_a_metric_that_repeats_people_is_right_and_its_opposite_is_wrong() -> None:
    human, _ = noisy_tables(4, 400, 0.0)
    assert float(soft_accuracy(human, 7 * human - 3)) == pytest.approx(1)
    assert float(soft_accuracy(human, -human)) < 0.3


def test_a_metric_that_says_nothing_is_halfway_sure_of_everything() -> None:
    human = np.arange(3.0)[:, None] + np.zeros((3, 200))
    assert float(soft_accuracy(human, np.zeros_like(human))) == pytest.approx(0.5)


def test_segments_that_were_not_judged_do_not_count() -> None:
    human, metric = noisy_tables(4, 120, 3.0)
    missing = human.copy()
    missing[:, 100:] = np.nan
    assert float(soft_accuracy(missing, metric)) == pytest.approx(float(soft_accuracy(human[:, :100], metric[:, :100])))


def test_one_system_has_no_soft_accuracy() -> None:
    human, metric = noisy_tables(1, 20, 1.0)
    assert np.isnan(float(soft_accuracy(human, metric)))


def accepted(systems: int, items: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Judgements that are 0 or 1, and scores that follow them, with ties."""
    rng = np.random.default_rng(seed)
    judged = (rng.random((systems, items)) < 0.3).astype(np.float64)
    return judged, np.round(judged + rng.normal(0, 1.2, judged.shape), 1)


def test_auc_is_mann_whitney_s_share_of_pairs() -> None:
    human, metric = accepted(2, 60, 1)
    metric[0, 3] = np.nan
    known = ~np.isnan(metric)
    u = scipy_stats.mannwhitneyu(metric[known & (human == 1)], metric[known & (human == 0)]).statistic
    expected = u / (known & (human == 1)).sum() / (known & (human == 0)).sum()
    assert 0.6 < expected < 0.9
    for by in ("none", "item", "system"):
        assert bootstrap_agreement("auc", human, metric, by, resamples=100).value == pytest.approx(expected)
    assert float(auc(100 * human - 7, metric)) == pytest.approx(expected), "whatever the two values are"
    assert float(auc(human, -metric)) == pytest.approx(1 - expected)


def test_auc_is_of_judgements_with_two_values_only() -> None:
    human, metric = accepted(1, 30, 2)
    human[0, 0] = 0.5
    assert np.isnan(float(auc(human, metric))) and np.isnan(float(auc(np.ones_like(human), metric)))


def test_intervals_of_auc_cover_what_is_true() -> None:
    true = scipy_stats.norm.cdf(1 / (1.2 * np.sqrt(2)))
    estimates = [bootstrap_agreement("auc", *accepted(1, 150, seed), resamples=500).estimate() for seed in range(150)]
    covered = np.mean([one.low <= true <= one.high for one in estimates])
    assert 0.9 <= covered <= 0.99


def test_the_interval_covers_the_value_whatever_the_grouping() -> None:
    human, metric = noisy_tables(5, 200, 3.0)
    drawn = bootstrap_agreement("soft_accuracy", human, metric, "system", resamples=500)
    estimate = drawn.estimate()
    assert estimate.value == float(soft_accuracy(human, metric))
    assert estimate.low < estimate.value <= estimate.high
