import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.significance import PairedTest
from scipy.stats import binomtest, ttest_1samp

from babelquake.errors import UserError
from babelquake.stats.bootstrap import bootstrap
from babelquake.stats.families import corrected
from babelquake.stats.resampling import segment_keys
from babelquake.stats.testing import (
    arrangements,
    difference_test,
    exchange_test,
    jackknife,
    paired_bootstrap,
    paired_randomisation,
    unskewed_p,
)


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


def robust(perturbed, clean):
    return 100 * mean(perturbed) / mean(clean)


def noisy_pair(gain, segments=400, seed=0):
    rng = np.random.default_rng(seed)
    base = rng.normal(50, 20, segments)
    return [with_ones(base + gain + rng.normal(0, 5, segments))], [with_ones(base)]


@pytest.mark.parametrize("test", [paired_bootstrap, paired_randomisation])
def test_a_clear_winner_is_found_and_the_wrong_side_is_not(test):
    better, worse = noisy_pair(gain=1.5)
    assert test(mean, better, worse).p < 0.005
    assert test(mean, better, worse, alternative="greater").p < 0.005
    assert test(mean, better, worse, alternative="less").p > 0.99
    assert test(mean, worse, better, alternative="less").p < 0.005


@pytest.mark.parametrize("test", [paired_bootstrap, paired_randomisation])
def test_a_system_against_itself_is_never_significant(test):
    rows = [np.random.default_rng(0).random((30, 2)) + 1]
    comparison = test(mean, rows, rows)
    assert comparison.difference == 0
    assert comparison.p == 1


@pytest.mark.parametrize("test", [paired_bootstrap, paired_randomisation])
def test_p_values_are_uniform_where_nothing_differs(test):
    """One normal difference of mean zero per trial: about a tenth of the p-values lie below 0.1."""
    p_values = []
    for seed in range(200):
        noise = np.random.default_rng(seed).normal(0, 1, 150)
        p_values.append(test(mean, [with_ones(noise)], [with_ones(np.zeros(150))], seed=seed).p)
    assert np.mean(np.array(p_values) < 0.1) == pytest.approx(0.1, abs=0.06)
    assert np.mean(p_values) == pytest.approx(0.5, abs=0.06)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30), st.integers(0, 9))
def test_p_lies_above_zero_and_exchanging_systems_turns_the_sides_round(scores, seed):
    first, second = ([with_ones(np.array(column, dtype=float))] for column in zip(*scores, strict=True))
    for test in (paired_bootstrap, paired_randomisation):
        sides = [test(mean, first, second, alternative=side, seed=seed).p for side in ("greater", "less", "two-sided")]
        turned = [test(mean, second, first, alternative=side, seed=seed).p for side in ("less", "greater", "two-sided")]
        assert all(0 < p <= 1 for p in sides)
        assert sides == pytest.approx(turned)


def test_ten_wins_of_ten_have_the_exact_sign_test_probability():
    """All ten differences are +1, so only 2 of 2¹⁰ swaps are as extreme."""
    comparison = paired_randomisation(mean, [with_ones(np.ones(10))], [with_ones(np.zeros(10))], draws=200_000)
    assert comparison.p == pytest.approx(2 / 2**10, rel=0.15)


def test_a_difference_of_ratios_is_tested_with_both_tables_swapped_together():
    rng = np.random.default_rng(1)
    clean = with_ones(rng.normal(40, 5, 300))
    sturdy, fragile = clean * [0.95, 1], clean * [0.90, 1]
    sturdy[:, 0] += rng.normal(0, 2, 300)
    for test in (paired_bootstrap, paired_randomisation):
        comparison = test(robust, [sturdy, clean], [fragile, clean])
        assert comparison.difference == pytest.approx(5, abs=1)
        assert comparison.p < 0.01


def test_the_two_sides_may_be_different_functions():
    rows = [with_ones(np.arange(10.0))]
    comparison = paired_bootstrap(mean, rows, rows, second_function=lambda sums: mean(sums) + 1)
    assert comparison.difference == pytest.approx(-1)
    assert comparison.interval.sd == pytest.approx(0)


def test_sacrebleu_gives_about_the_same_p_for_bleu():
    """sacreBLEU's paired bootstrap on 200 short sentences, of which one system spoils some endings."""
    rng = np.random.default_rng(5)
    words = [f"w{number}" for number in range(40)]
    references = [" ".join(rng.choice(words, 12)) for _ in range(200)]
    systems = [
        [
            " ".join([*text.split()[: 12 - spoilt], *["x"] * spoilt])
            for text, spoilt in zip(references, counts, strict=True)
        ]
        for counts in rng.integers(0, (6, 7), (200, 2)).T
    ]
    metric = sacrebleu.BLEU(references=[references])
    _, results = PairedTest(
        [("one", systems[0]), ("two", systems[1])], {"bleu": metric}, [references], test_type="bs", n_samples=2000
    )()
    theirs = results["BLEU"][1].p_value

    def bleu(sums):
        return np.array([metric._compute_score_from_stats(row.tolist()).score for row in np.atleast_2d(sums)]).reshape(
            sums.shape[:-1]
        )

    tables = [[np.array(metric._extract_corpus_statistics(system, None))] for system in systems]
    ours = paired_bootstrap(bleu, *tables, alternative="sacrebleu", resamples=2000)
    assert ours.first == pytest.approx(results["BLEU"][0].score)
    assert ours.p == pytest.approx(theirs, abs=0.03)
    assert paired_bootstrap(bleu, *tables, resamples=2000).p == pytest.approx(2 * ours.p, abs=0.06)


def test_unknown_alternatives_and_unequal_tables_are_refused():
    rows = [with_ones(np.arange(5.0))]
    with pytest.raises(UserError, match="greater"):
        paired_bootstrap(mean, rows, rows, alternative="grater")
    with pytest.raises(UserError, match="same shape"):
        paired_randomisation(mean, rows, [np.ones((4, 2))])
    with pytest.raises(UserError, match="same segments"):
        paired_bootstrap(mean, rows, [np.ones((4, 2))])


def test_symmetric_differences_give_student_s_t():
    values = np.array([-3.0, -1.0, 0.0, 1.0, 3.0]) + 2.0
    for alternative in ("two-sided", "greater", "less"):
        expected = ttest_1samp(values, 0.0, alternative=alternative).pvalue
        assert unskewed_p(values, alternative) == pytest.approx(expected, rel=1e-9)


def test_a_tail_on_the_other_side_makes_a_rise_less_sure_and_one_on_its_own_side_surer():
    """Nine gains of about 1 may be balanced by a rare large loss that this sample hints at, or more."""
    long_left = np.array([1.0, 1.2, 0.8, 1.1, 0.9, 1.3, 0.7, 1.0, -2.0])
    long_right = 2 * long_left.mean() - long_left
    plain = ttest_1samp(long_left, 0.0, alternative="greater").pvalue
    assert unskewed_p(long_left, "greater") > plain > unskewed_p(long_right, "greater")


def test_hall_by_hand():
    """n = 4, values 1 1 1 5: mean 2, T = 2, moments 3 and 6, γ/√n = 6/3^1.5/2."""
    skew = 6 / 3**1.5 / 2
    g = 2 + 4 * skew / 3 + 8 * skew**2 / 27 + skew / 6
    from scipy.stats import t

    assert unskewed_p([1, 1, 1, 5], "greater") == pytest.approx(t.sf(g, 3))


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0], [3.0] * 6, [0.0] * 5])
def test_without_spread_or_with_two_it_bounds_nothing(values):
    assert unskewed_p(values) == 0.0


@pytest.mark.parametrize("wins", [1, 2, 3, 4])
def test_wins_and_losses_have_no_tail(wins):
    """2 wins of 18 are as rare as the sign test says (p = .0013); their skewness only says that losses are many."""
    values = np.repeat([1.0, -1.0, 0.0], [wins, 18 - wins, 5])
    assert unskewed_p(values) == pytest.approx(ttest_1samp(values, 0.0).pvalue, rel=1e-9)
    assert unskewed_p(values[:18]) < binomtest(wins, 18).pvalue
    assert unskewed_p(values * [*[1.5] * wins, *[1.0] * (23 - wins)]) > unskewed_p(values)
