import gzip
from itertools import combinations

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from babelquake.errors import UserError
from babelquake.stats.kendall import concordance, darr, darr_rows, kendall_like


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
