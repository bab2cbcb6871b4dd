"""ROBUST, CONSIS and their kin, checked against sacreBLEU and by hand."""

from typing import ClassVar

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF, TER
from tests.studies.mt.made import CLEAN, NOISY, REFERENCES, Constant, cells, measures, named, numbered, tables

from babelquake.scorers import scorer
from babelquake.studies.mt.cells import harmonic_mean


@pytest.mark.parametrize(
    ("name", "official"),
    [("bleu[lowercase=true]", BLEU(lowercase=True)), ("chrf", CHRF()), ("chrf++", CHRF(word_order=2))],
)
def test_every_measure_is_what_sacrebleu_gives(name: str, official: BLEU | CHRF) -> None:
    def quality(translations: list[str], references: list[str]) -> float:
        return float(official.corpus_score(translations, [references]).score)

    clean, noisy = quality(CLEAN, REFERENCES), quality(NOISY, REFERENCES)
    there, back = quality(NOISY, CLEAN), quality(CLEAN, NOISY)
    worse = [
        quality([one], [reference]) > quality([other], [reference])
        for one, other, reference in zip(CLEAN, NOISY, REFERENCES, strict=True)
    ]
    hurt = 100 * sum(worse) / len(worse)
    (cell,) = cells(scorer(name), tables(scorer(name)))
    assert {name: drawn.value for name, drawn in cell.numbers.items()} == pytest.approx(
        {
            "quality": clean,
            "quality_perturbed": noisy,
            "delta": noisy - clean,
            "robust": 100 * noisy / clean,
            "consis": 2 * there * back / (there + back),
            "hurt": hurt,
        },
        abs=1e-9,
    )


def test_an_error_rate_counts_as_100_minus_itself() -> None:
    official = TER()
    clean, noisy = (100 - official.corpus_score(texts, [REFERENCES]).score for texts in (CLEAN, NOISY))
    found = named(measures(scorer("ter"), tables(scorer("ter"))), perturbation="misspell")
    assert found["quality"].value == pytest.approx(clean)
    assert found["delta"].value == pytest.approx(noisy - clean)
    assert found["robust"].value == pytest.approx(100 * noisy / clean)


def test_the_harmonic_mean() -> None:
    one, other = np.array([50.0, 0.0, 100.0]), np.array([100.0, 0.0, 0.0])
    assert harmonic_mean(one, other).tolist() == pytest.approx([200 / 3, 0, 0])


def test_unchanged_translations_are_perfectly_robust_and_consistent() -> None:
    found = named(measures(scorer("bleu"), tables(scorer("bleu"), CLEAN)), perturbation="misspell")
    assert [found[name].value for name in ("robust", "consis", "delta")] == pytest.approx([100, 100, 0])
    assert (found["consis"].low, found["consis"].high) == pytest.approx((100, 100))
    assert found["delta"].p == found["robust"].p == found["robust"].p_corrected == 1
    assert found["robust"].verdict == "not significant"


def test_intervals_hold_the_value_and_p_speaks_of_the_drop() -> None:
    found = named(measures(scorer("chrf"), tables(scorer("chrf"))), perturbation="misspell")
    for name in ("quality", "delta", "robust", "consis"):
        one = found[name]
        assert name in ("delta", "robust") or one.low <= one.value <= one.high  # type: ignore[operator]
        assert one.sd > 0 and (one.n, one.changed) == (6, 6)  # type: ignore[operator]
    assert found["delta"].p == found["robust"].p >= 2**-5  # type: ignore[operator]
    assert found["consis"].p is None
    assert found["delta"].family == ("de-en", "chrf", "Δ")


def test_without_references_only_agreement_is_measured() -> None:
    (cell,) = cells(scorer("chrf"), tables(scorer("chrf"), references=None))
    assert cell.numbers.keys() == {"consis"}


def test_a_scorer_without_references_has_no_consis_and_does_not_stop_the_study() -> None:
    class Estimator(Constant):
        needs: ClassVar[frozenset[str]] = frozenset({"source"})

    judge = Estimator({"good": 0.9, "bad": 0.5})
    parts = [
        tables(judge, numbered(noisy), system, clean=numbered("good"), references=numbered("r"))
        for system, noisy in (("a", "bad"), ("b", "good"))
    ]
    found = measures(judge, *parts)
    assert "consis" not in {one.kind.name for one in found}
    assert {(one.system, one.value) for one in found if one.kind.name == "rank"} == {("a", 2.0), ("b", 1.0)}


@pytest.mark.parametrize(
    ("clean", "noisy", "higher"), [(-0.10, -0.30, True), (0.0, -0.2, True), (110.0, 130.0, False), (50.0, 130.0, False)]
)
def test_ratios_of_qualities_below_zero_mean_nothing(clean: float, noisy: float, higher: bool) -> None:
    """COMET −.10 → −.30 would be ROBUST 300, TER 110 → 130 too; both got worse, and rank last."""
    judge = Constant({"clean": clean, "noisy": noisy}, higher=higher)
    parts = [
        tables(judge, numbered(text), system, clean=numbered("clean"), references=numbered("r"))
        for system, text in (("worse", "noisy"), ("same", "clean"))
    ]
    found = measures(judge, *parts)
    robust = named(found, system="worse", perturbation="misspell")["robust"]
    assert robust.value is None and "reaches zero" in str(robust.note)
    assert {one.system: one.value for one in found if one.kind.name == "rank"} == {"same": 1.0, "worse": 2.0}
    assert {one.note for one in found if one.kind.name == "rank"} == {"Ranked by quality under noise."}
    kinds = {one.kind.name for one in found}
    assert "delta_difference" in kinds and "robust_difference" not in kinds
    assert named(found, system="worse", perturbation=None)["overall_robust"].value is None


def test_agreement_that_falls_below_zero_one_way_has_no_consis() -> None:
    """TER 120 one way and 86 the other: qualities −20 and 14, whose harmonic mean would be 93."""
    judge = Constant({"clean": 120.0, "noisy": 86.0}, higher=False)
    found = measures(judge, tables(judge, numbered("noisy"), clean=numbered("clean"), references=numbered("r")))
    consis = named(found, perturbation="misspell")["consis"]
    assert consis.value is None and "reaches zero" in str(consis.note)


def test_a_scorer_says_whether_ratios_mean_anything() -> None:
    judge = Constant({"clean": 0.9, "noisy": 0.8}, ratio=False)
    found = named(
        measures(judge, tables(judge, numbered("noisy"), clean=numbered("clean"), references=numbered("r"))),
        perturbation="misspell",
    )
    assert found["robust"].value is None and "no true zero" in str(found["robust"].note)
    assert found["delta"].value == pytest.approx(-0.1)
    assert found["delta"].verdict == "significant"


def test_qualities_whose_resamples_cross_zero_give_no_ratio() -> None:
    """A mean of 0.02 with an error of 0.1: the interval holds zero."""
    scores = {f"t{number}": value for number, value in enumerate(np.random.default_rng(0).normal(0.02, 0.8, 60))}
    judge = Constant(scores)
    texts = [f"t{number}" for number in range(60)]
    found = named(measures(judge, tables(judge, texts, clean=texts, references=texts)), perturbation="misspell")
    assert found["robust"].value is None


def test_cells_on_the_same_segments_share_their_keys_and_those_of_changed_texts_keep_none() -> None:
    judge = scorer("chrf")
    some = [True, False, False, False, False, True]
    parts = [tables(judge, system=name, changed=some, perturbation=by) for name in "ab" for by in ("case", "misspell")]
    found = cells(judge, *parts)
    everywhere = [cell for cell in found if not cell.place.only_changed]
    assert len(everywhere) == 4 and len({id(cell.keys) for cell in everywhere}) == 1
    assert all(cell.marks is not None and cell.marks.dtype == np.uint32 for cell in everywhere)
    changed = [cell for cell in found if cell.place.only_changed]
    assert len(changed) == 4
    assert all(cell.n == 2 and cell.marks is None and not len(cell.keys) for cell in changed)


def test_fewer_segments_than_an_interval_of_losses_needs_have_none_and_say_so() -> None:
    found = named(measures(scorer("chrf"), tables(scorer("chrf"))), perturbation="misspell")
    for name in ("delta", "robust"):
        assert found[name].low is None and found[name].high is None
        assert "Too few segments for an interval: 6, 50" in (found[name].note or "")


def test_an_interval_of_losses_is_longer_on_the_side_of_the_tail() -> None:
    """Nine of sixty translations are lost, the others as they were."""
    judge = Constant({"good": 80.0, "lost": 10.0})
    noisy = [f"{'lost' if row % 7 == 0 else 'good'} {row}" for row in range(60)]
    texts = {"references": numbered("good"), "clean": numbered("good")}
    delta = named(measures(judge, tables(judge, noisy, **texts), resamples=2000), perturbation="misspell")["delta"]  # type: ignore[arg-type]
    assert delta.value - delta.low > delta.high - delta.value > 0  # type: ignore[operator]
