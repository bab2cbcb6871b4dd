import numpy as np
import pytest

from babelquake.stats.agreement import AGREEMENTS, agreement, concordance, darr, darr_rows
from babelquake.stats.agreement_bootstrap import bootstrap_agreement
from babelquake.stats.bootstrap import bootstrap
from babelquake.stats.resampling import Draws, keys_by_place, segment_keys


@pytest.fixture
def tables():
    rng = np.random.default_rng(4)
    human = rng.normal(50, 25, (5, 60))
    metric = human / 100 + rng.normal(0, 0.3, human.shape)
    human[2, 7] = human[0, 9] = np.nan
    return human, metric


@pytest.mark.parametrize("by", ["none", "item", "system"])
@pytest.mark.parametrize("name", [name for name in AGREEMENTS if name not in ("accuracy", "auc")])
def test_every_resample_has_the_agreement_of_its_segments(name, by, tables):
    human, metric = tables
    resampled = bootstrap_agreement(name, human, metric, by, resamples=20, seed=3)
    assert resampled.value == pytest.approx(float(agreement(name)(human, metric, by)))
    for count, value in zip(next(Draws(keys_by_place(60), seed=3).rows(20)), resampled.values, strict=True):
        drawn = [np.repeat(table, count, axis=1) for table in (human, metric)]
        assert value == pytest.approx(float(agreement(name)(*drawn, by)), rel=1e-5)


def test_accuracy_keeps_its_epsilon(tables):
    resampled = bootstrap_agreement("accuracy", *tables, resamples=500)
    assert resampled.value == pytest.approx(float(agreement("accuracy")(*tables)))
    assert resampled.values.mean() == pytest.approx(resampled.value, abs=0.01)


def test_the_auc_of_yes_or_no_judgements_varies_as_if_it_were_computed_anew(tables):
    human, metric = np.where(np.isnan(tables[0]), np.nan, tables[0] > 50), tables[1]
    resampled = bootstrap_agreement("auc", human, metric, resamples=300, seed=3)
    assert resampled.value == pytest.approx(float(agreement("auc")(human, metric)))
    counts = np.vstack(list(Draws(keys_by_place(60), seed=3).rows(300)))
    anew = [
        float(agreement("auc")(*(np.repeat(table, count, axis=1) for table in (human, metric)))) for count in counts
    ]
    assert resampled.values == pytest.approx(anew, abs=0.01)
    assert resampled.values.std() == pytest.approx(np.std(anew), rel=0.05)
    assert np.isnan(bootstrap_agreement("auc", *tables, resamples=5).value), "graded judgements are not yes or no"


def test_pearsons_standard_error_is_fishers():
    """For normal scores the standard error of r is about (1 − r²)/√n."""
    rng = np.random.default_rng(0)
    human = rng.normal(size=3000)
    estimate = bootstrap_agreement("pearson", human, human + rng.normal(size=3000)).estimate()
    assert estimate.sd == pytest.approx((1 - estimate.value**2) / 3000**0.5, rel=0.1)


def drawn(better, worse, segments=None):
    return bootstrap(concordance, [darr_rows(better, worse, segments)], 10_000).estimate()


def test_pairs_of_one_sentence_are_drawn_together():
    """With every pair ten times over, drawing segments keeps the error that drawing pairs would shrink."""
    better, worse = np.random.default_rng(0).normal(0.3, 1, (2, 200))
    worse -= 0.5
    repeated, segments = np.repeat([better, worse], 10, axis=1), np.repeat(np.arange(200), 10)
    honest = drawn(*repeated, segments)
    assert honest.value == pytest.approx(float(darr(better, worse)))
    assert honest.sd == pytest.approx(drawn(better, worse).sd, rel=0.05)
    assert honest.sd > 2.5 * drawn(*repeated).sd


@pytest.mark.parametrize("by", ["none", "system"])
@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall", "kendall_like"])
def test_the_order_of_segments_changes_nothing(name, by, tables):
    human, metric = tables
    keys, order = segment_keys(map(str, range(60))), np.random.default_rng(0).permutation(60)
    one = bootstrap_agreement(name, human, metric, by, resamples=30, keys=keys)
    other = bootstrap_agreement(name, human[:, order], metric[:, order], by, resamples=30, keys=keys[order])
    assert one.values == pytest.approx(other.values, rel=1e-12)


def test_ties_share_their_rank_in_every_resample():
    rng = np.random.default_rng(1)
    human, metric = rng.integers(0, 4, (2, 3, 40)).astype(float)
    for name in ("spearman", "kendall"):
        resampled = bootstrap_agreement(name, human, metric, resamples=10, seed=5)
        for count, value in zip(next(Draws(keys_by_place(40), seed=5).rows(10)), resampled.values, strict=True):
            drawn = [np.repeat(table, count, axis=1) for table in (human, metric)]
            assert value == pytest.approx(float(agreement(name)(*drawn)), rel=1e-5)
