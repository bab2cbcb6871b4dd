import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.significance import PairedTest

from babelquake.errors import UserError
from babelquake.stats.paired import paired_bootstrap, paired_randomisation


def mean(sums):
    return sums[..., 0] / sums[..., 1]


def robust(perturbed, clean):
    return 100 * mean(perturbed) / mean(clean)


def with_ones(scores):
    return np.stack([scores, np.ones_like(scores)], axis=1)


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
