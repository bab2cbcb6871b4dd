"""Far too long or far too short for the language pair; loops (Raunak et al. 2021)."""

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import rankdata
from tests.failures.conftest import Kinds

from babelquake.failures import Pair
from babelquake.failures.lengths import repetition, usual_ratio
from babelquake.languages import Language

SOURCE = "The committee met in the morning and discussed the proposals of the government."


def test_half_a_sentence_is_truncated_and_a_lecture_runs_away(kinds: Kinds) -> None:
    assert "truncated" in kinds(SOURCE, "Výbor se sešel")
    assert "runaway" in kinds(SOURCE, "Výbor se sešel ráno a projednával návrhy vlády, " + "což je dlouhý příběh, " * 9)


def test_chinese_is_short_and_german_is_long(kinds: Kinds) -> None:
    assert kinds(SOURCE, "委员会早上开会讨论了政府的提案。", "en-zh") == set()
    ratio = usual_ratio(Language("zh"), Language("de"))
    assert ratio is not None and 3 < ratio < 4
    assert usual_ratio(Language("xh"), Language("en")) is None


def test_padding_of_the_source_may_go(kinds: Kinds) -> None:
    assert "truncated" not in kinds("Wow!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!", "Páni!")


@pytest.mark.parametrize(
    "translation",
    [
        "The mucous mucous mucous mucous mucous mucous membrane.",
        "He returned" + " to Germany, where he returned" * 4 + ".",
        "Not sub-sub-sub-sub-sub-sub-sub-sub-sub-scription.",
        "So aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ],
)
def test_words_said_again_and_again_are_a_loop(kinds: Kinds, translation: str) -> None:
    assert "loop" in kinds("Die Schleimhaut gerät in die Nasenhöhle.", translation, "de-en")


def test_emphasis_and_a_looping_source_are_not(kinds: Kinds) -> None:
    assert "loop" not in kinds("Nein, nein, nein!", "No, no, no!", "de-en")
    assert "loop" not in kinds("ha " * 12, "ha " * 14, "de-en")


def test_repetition_tells_annotated_loops_from_others(shared_data: Path) -> None:
    """Guerreiro et al. 2023: 86 of 3,415 translations are annotated as repetitions."""
    with (shared_data / "hallucinations" / "guerreiro2022.csv").open(encoding="utf-8", newline="") as file:
        labels = ("repetitions", "strong-unsupport", "full-unsupport")
        rows = [row for row in csv.DictReader(file) if all(row[label] in ("0", "1") for label in labels)]
    german, english = Language("de"), Language("en")
    scores = rankdata([repetition(Pair(row["src"], row["mt"], german, english)) for row in rows])
    loops = np.array([row["repetitions"] == "1" for row in rows])
    positives = int(loops.sum())
    area = (scores[loops].sum() - positives * (positives + 1) / 2) / (positives * (len(rows) - positives))
    assert (len(rows), positives) == (3415, 86)
    assert area >= 0.94
