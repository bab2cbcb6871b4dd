"""What a large run must still be able to say: tests keep their power however many there are."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from babelquake.data import Dataset
from babelquake.engine import Engine
from babelquake.randomness import Stream
from babelquake.runs.run import Run
from babelquake.spec import Spec
from babelquake.studies.compare import compare
from babelquake.studies.metric.study import metric
from babelquake.studies.mt.study import mt
from babelquake.systems.base import System

from .conftest import Write

SENTENCES = (
    "the old train to Hamburg is late again today because of heavy snow and a broken signal near the river while two "
    "ministers said on Monday that they would not raise taxes for small houses in the north of the country this year"
)
WORDS = SENTENCES.split()
SCORERS = ["chrf", "chrf++", "bleu", "bleu[lowercase=true]", "ter", "chrf[beta=1]", "bleu[max_ngram_order=2]"]


class Forgetful(System):
    """Copies a source; one that forgets loses 40 % of the words of whatever it was not trained on."""

    def __init__(self, known: Sequence[str], forgets: bool) -> None:
        self.spec, self.known, self.forgets = Spec("copyist"), frozenset(known), forgets

    @property
    def signature(self) -> str:
        return f"forgetful|{self.forgets}"

    def translate(self, texts: Sequence[str]) -> list[str]:
        return [text if text in self.known or not self.forgets else _shorter(text) for text in texts]


def _shorter(text: str) -> str:
    words = text.split()
    return " ".join(word for place, word in enumerate(words) if place % 5 not in (1, 3)) or "nothing"


@pytest.fixture
def data(write: Write) -> Dataset:
    texts = [" ".join(WORDS[(7 * row + place) % len(WORDS)] for place in range(12)) for row in range(40)]
    return write("source reference", [(f"{text} {row}.", f"{text} {row}.") for row, text in enumerate(texts)])


def run(data: Dataset, out: Path, forgets: bool, suite: str) -> Run:
    system = Forgetful(data.segments["source"].to_list(), forgets)
    return mt(
        systems=[system],
        data=data,
        suite=suite,
        scorers=SCORERS,
        out=out,
        resamples=400,
        engine=Engine(quiet=True),
        replicates=1,
    )


@pytest.mark.slow
def test_a_model_that_loses_two_fifths_of_its_words_is_a_regression_everywhere(data: Dataset, tmp_path: Path) -> None:
    """Suite `all`, seven scorers, hundreds of tests: Holm over all of them found nothing at all here."""
    old, new = (run(data, tmp_path / name, name == "new", "all") for name in ("old", "new"))
    changes = compare(old, new)
    assert len(changes) > 300
    known = [change for change in changes if change.difference is not None]
    touched = [change for change in known if change.difference < -10 and change.measure.startswith("overall")]
    assert touched and all(change.regression for change in touched)
    fallen = [change for change in known if change.difference < -10]
    assert sum(change.regression for change in fallen) > 0.9 * len(fallen)


@pytest.mark.slow
def test_equal_runs_have_p_one_and_a_scorer_more_changes_no_verdict(data: Dataset, tmp_path: Path) -> None:
    suite = "case[level=1],misspell[level=0.3]"
    old, new = (run(data, tmp_path / name, name == "new", suite) for name in ("old", "new"))
    assert {change.p for change in compare(old, old)} == {1.0}
    system = Forgetful(data.segments["source"].to_list(), True)
    alone = mt(
        systems=[system],
        data=data,
        suite=suite,
        scorers="chrf",
        out=tmp_path / "a",
        resamples=400,
        engine=Engine(quiet=True),
        replicates=1,
    )
    columns = ["measure", "perturbation", "p", "p_corrected", "verdict"]
    both = new.measures.filter(pl.col("scorer") == "chrf").select(columns)
    assert alone.measures.filter(pl.col("scorer") == "chrf").select(columns).equals(both)


def test_all_perturbations_move_a_metric_and_the_verdict_says_so(data: Dataset, tmp_path: Path) -> None:
    found = metric(
        scorers=["chrf", "bleu", "ter"],
        data=data,
        suite="everyday",
        out=tmp_path / "r",
        side="source",
        resamples=400,
        engine=Engine(quiet=True),
        replicates=1,
    ).measures.filter(pl.col("measure") == "delta")
    clear = found.filter(pl.col("p") < 0.005)
    assert clear.height > 5
    assert set(clear["verdict"]) == {"significant"}
    assert found.filter(pl.col("value") < -1)["better"].unique().to_list() == ["up"]


def test_three_systems_on_the_same_segments_shrink_no_interval(write: Write, tmp_path: Path) -> None:
    texts = [" ".join(WORDS[(7 * row + place) % len(WORDS)] for place in range(9)) for row in range(30)]
    once = [(f"Satz {row}", text, text + " today", "a") for row, text in enumerate(texts)]
    thrice = [(source, reference, text, system) for system in "abc" for source, reference, text, _ in once]
    found = []
    for name, rows in (("one", once), ("three", thrice)):
        material = write("source reference translation system", rows, f"{name}.de-en.tsv")
        measures = metric(
            scorers=["chrf"],
            data=material,
            suite="case[level=1]",
            out=tmp_path / name,
            resamples=400,
            engine=Engine(quiet=True),
        ).measures
        found.append(measures.filter(pl.col("measure") == "delta").row(0, named=True))
    assert found[0]["value"] == pytest.approx(found[1]["value"])
    assert found[0]["sd"] == pytest.approx(found[1]["sd"])
    assert found[0]["p"] == pytest.approx(found[1]["p"])


def test_a_scorer_given_twice_is_one_scorer(data: Dataset, tmp_path: Path) -> None:
    options = {"side": "source", "resamples": 100, "engine": Engine(quiet=True)}
    once, twice = (
        metric(scorers=scorers, data=data, suite="case[level=1]", out=tmp_path / str(len(scorers)), **options).measures  # type: ignore[arg-type]
        for scorers in (["chrf"], ["chrf", "chrf"])
    )
    columns = ["measure", "value", "p", "n"]
    assert once.select(columns).equals(twice.select(columns))


def test_an_error_rates_change_is_better_up_in_every_study(data: Dataset, tmp_path: Path) -> None:
    found = metric(
        scorers=["ter", "chrf"],
        data=data,
        suite="misspell[level=0.5]",
        out=tmp_path / "r",
        side="source",
        resamples=100,
        engine=Engine(quiet=True),
    ).measures.filter(pl.col("measure") == "delta")
    assert found["value"].max() < 0  # type: ignore[operator]


@pytest.mark.slow
def test_too_few_segments_fail_the_gate_with_words_of_their_own(write: Write, tmp_path: Path) -> None:
    data = write("source reference", [(f"{text} here", f"{text} here") for text in ("a b c", "d e f", "g h i")])
    old, new = (run(data, tmp_path / name, name == "new", "case[level=1]") for name in ("old", "new"))
    changes = [change for change in compare(old, new) if change.difference]
    assert changes
    assert not any(change.testable or change.regression for change in changes)
    assert all("3 segments" in str(change.note) for change in changes)


class Careless(System):
    """Copies a source; one it was not trained on falls apart in one of twelve cases, or may lose its last word."""

    def __init__(self, known: Sequence[str], which: int, drops: bool) -> None:
        self.spec, self.known, self.which, self.drops = Spec("copyist"), frozenset(known), which, drops

    @property
    def signature(self) -> str:
        return f"careless|{self.which}|{self.drops}"

    def translate(self, texts: Sequence[str]) -> list[str]:
        return [text if text in self.known else self._noisy(text) for text in texts]

    def _noisy(self, text: str) -> str:
        chance = Stream(f"{self.which} {text.lower()}")
        if chance.chance(1 / 12):
            return "it"
        return f"{text.rsplit(' ', 1)[0] if self.drops and chance.chance(0.25) else text}."


@pytest.mark.slow
def test_small_losses_are_found_behind_sentences_that_fall_apart(write: Write, tmp_path: Path) -> None:
    """A mean follows the few translations that fall apart, in the old run these and in the new one those."""
    texts = [f"{row} " + " ".join(WORDS[(7 * row + place) % len(WORDS)] for place in range(12)) for row in range(200)]
    texts = [f"{text}." for text in texts]
    data = write("source reference", [(text, text) for text in texts])
    old, new = (
        mt(
            systems=[Careless(texts, which, drops=which > 0)],
            data=data,
            suite="final-delete",
            scorers=["chrf"],
            out=tmp_path / str(which),
            resamples=400,
            engine=Engine(quiet=True),
        )
        for which in (0, 1)
    )
    found = {change.measure: change for change in compare(old, new) if change.perturbation is None}
    assert found["overall_robust"].outcome == found["overall_consis"].outcome == "same"
    assert found["overall_hurt"].outcome == "worse" and found["overall_hurt"].difference > 10
    lost = -found["overall_quality_perturbed"].difference
    assert 0 < lost < 5
    assert compare(old, new, min_drop=lost / 2).failures and not compare(old, new, min_drop=lost).failures
