import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from babelquake.errors import UserError
from babelquake.stats.agreement import AGREEMENTS, agreement, kendall, moments, pearson, pearson_of_moments, spearman

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
