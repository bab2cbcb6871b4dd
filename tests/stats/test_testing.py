import numpy as np
import pytest

from babelquake.stats.bootstrap import bootstrap
from babelquake.stats.families import corrected
from babelquake.stats.resampling import segment_keys
from babelquake.stats.testing import arrangements, difference_test, exchange_test, jackknife


def mean(sums):
    return sums[..., 0] / sums[..., 1]


def ratio(perturbed, clean):
    return 100 * mean(perturbed) / mean(clean)


def with_ones(scores):
    scores = np.asarray(scores, dtype=float)
    return np.stack([scores, np.ones_like(scores)], axis=1)


def asked(before, after, seed=0, resamples=999, **options):
    first, second = with_ones(after), with_ones(before)
    drawn = bootstrap(lambda one, other: mean(one) - mean(other), [first, second], resamples, seed)
    return exchange_test(mean, [first], [second], drawn, seed=seed, **options)


def test_one_changed_segment_of_99_shows_nothing_whatever_the_seed():
    before = np.random.default_rng(0).normal(50, 10, 99)
    after = before.copy()
    after[17] -= 30
    for seed in range(5):
        test = asked(before, after, seed)
        assert (test.p, test.method, test.changed) == (1.0, "exact", 1)


def test_all_arrangements_of_eight_equal_falls_give_the_sign_test():
    """2 of 2⁸ arrangements are as extreme; the twelve unchanged segments add nothing."""
    before = np.full(20, 50.0)
    after = before - np.r_[np.ones(8), np.zeros(12)]
    assert asked(before, after).p == 2 / 2**8
    assert asked(before, after, alternative="less").p == 1 / 2**8
    assert asked(before, after, alternative="greater").p == 1.0


def test_random_arrangements_agree_with_all_of_them():
    rng = np.random.default_rng(2)
    before = rng.normal(50, 10, 13)
    after = before + rng.normal(1.5, 3, 13)
    exact = asked(before, after)
    drawn = exchange_test(
        mean,
        [with_ones(np.r_[after, before])],
        [with_ones(np.r_[before, before + 1e-9])],
        bootstrap(
            lambda one, other: mean(one) - mean(other),
            [with_ones(np.r_[after, before]), with_ones(np.r_[before, before])],
            20_000,
        ),
    )
    assert (exact.method, drawn.method) == ("exact", "randomisation")
    assert drawn.p == pytest.approx(exact.p, abs=0.015)


def test_equal_sides_have_p_one_and_nothing_to_correct():
    same = np.random.default_rng(0).normal(0, 1, 80)
    test = asked(same, same)
    assert (test.p, test.value, test.method) == (1.0, 0.0, "nothing differs")
    assert corrected([test])[0].p_corrected == 1.0
    assert corrected([test])[0].testable


def test_many_changed_segments_are_bootstrapped():
    rng = np.random.default_rng(0)
    before = rng.normal(50, 10, 400)
    assert asked(before, before + rng.normal(1, 5, 400)).method == "bootstrap"


@pytest.mark.parametrize("segments", [6, 30, 300])
def test_the_order_of_rows_changes_no_bit(segments):
    rng = np.random.default_rng(1)
    before = rng.normal(50, 10, segments)
    after = before + rng.normal(1, 5, segments)
    keys = segment_keys(map(str, range(segments)))
    found = []
    for order in (np.arange(segments), rng.permutation(segments)):
        tables = [with_ones(after[order]), with_ones(before[order])]
        drawn = bootstrap(lambda one, other: mean(one) - mean(other), tables, 500, 3, keys[order])
        test = exchange_test(mean, tables[:1], tables[1:], drawn, seed=3, keys=keys[order])
        found.append((drawn.estimate().sd, drawn.estimate().low, test.p))
    assert found[0] == found[1]


def test_the_jackknife_of_a_mean_is_its_terms_and_of_a_ratio_adds_up_nearly():
    rng = np.random.default_rng(0)
    clean, perturbed = rng.normal(40, 5, (2, 30))
    assert jackknife(mean, [with_ones(clean)]) == pytest.approx(clean / 30, rel=1e-9)
    parts = jackknife(ratio, [with_ones(perturbed), with_ones(clean)])
    assert parts.sum() == pytest.approx(100 * perturbed.mean() / clean.mean(), rel=0.002)


def test_flipping_contributions_of_a_linear_difference_is_the_exchange():
    rng = np.random.default_rng(4)
    before = rng.normal(50, 10, 12)
    after = before + rng.normal(2, 3, 12)
    drawn = bootstrap(lambda one, other: mean(one) - mean(other), [with_ones(after), with_ones(before)], 500)
    assert difference_test(drawn, (after - before) / 12).p == asked(before, after).p


def test_contributions_of_unchanged_segments_do_not_count():
    """Two systems that differ in one segment: whatever that segment does to a ratio proves nothing."""
    clean = with_ones(np.random.default_rng(0).normal(40, 5, 99))
    one = clean * [0.9, 1]
    other = one.copy()
    other[3, 0] -= 20
    tables = [one, clean, other, clean]

    def difference(a, b, c, d):
        return ratio(a, b) - ratio(c, d)

    drawn = bootstrap(difference, tables, 500)
    changed = (one != other).any(axis=1)
    assert difference_test(drawn, jackknife(difference, tables), changed=changed).p == 1.0


def test_arrangements_are_all_and_different():
    found = arrangements(5)
    assert len({tuple(row) for row in found.tolist()}) == 32
    assert found.sum() == 5 * 16
