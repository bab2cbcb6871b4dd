"""ROBUST, CONSIS and their kin, checked against sacreBLEU and by hand."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest
from sacrebleu.metrics import BLEU, CHRF, TER

from babelquake.runs.measures import Measure
from babelquake.runs.pieces import list_column
from babelquake.scorers import MeanScorer, Questions, scorer
from babelquake.scorers.base import Array, Scorer
from babelquake.spec import Spec
from babelquake.studies.cells import Cell
from babelquake.studies.mt.cells import harmonic_mean
from babelquake.studies.mt.results import mt_cells, mt_results
from babelquake.studies.mt.robustness import ranks, robust_consis_correlation, system_differences

REFERENCES = [
    "The committee did not approve the plan on Monday .",
    "She bought three apples and a loaf of bread at the market .",
    "Nobody knows when the next train to the city will leave .",
    "It has been raining in the north of the country for days .",
    "The minister said that taxes would fall again next year .",
    "Our neighbours painted their old house green and white .",
]
CLEAN = [
    "The committee did not approve the plan on Monday .",
    "She bought three apples and one bread at the market .",
    "No one knows when the next train to the city leaves .",
    "It has rained in the north of the country for days .",
    "The minister said taxes would fall again next year .",
    "Our neighbours have painted their old house green and white .",
]
NOISY = [
    "The committee approved the plan on Monday .",
    "She bought three apples and one bread at the market today .",
    "Nobody knows when the train to city leaves .",
    "In the north of the country it has rained for days .",
    "The minister said taxis would fall again next year .",
    "Our neighbours have painted the old house in green and white .",
]
Tables = tuple[pl.DataFrame, pl.DataFrame]


def tables(
    judge: Scorer,
    noisy: Sequence[str] = NOISY,
    system: str = "a",
    *,
    references: Sequence[str] | None = REFERENCES,
    clean: Sequence[str] = CLEAN,
    changed: Sequence[bool] | None = None,
    perturbation: str = "misspell",
    level: float | None = 0.1,
    blank: int | None = None,
) -> Tables:
    """Scores and translations of one system under one perturbation, as the study stores them."""
    n = len(clean)
    changed = changed or [True] * n
    sources = ["" if row == blank else f"source {row}" for row in range(n)]
    keys = {
        "system": [system] * n,
        "language_pair": ["de-en"] * n,
        "row": list(range(n)),
        "id": [str(row) for row in range(n)],
    }
    noise = {"perturbation": [perturbation] * n, "level": [level] * n, "replicate": [0] * n}
    schema = {"perturbation": pl.String, "level": pl.Float64, "replicate": pl.UInt32}
    translations = pl.concat(
        [
            pl.DataFrame({**keys, "source": sources, "translation": clean, "judged": clean}, strict=False),
            pl.DataFrame(
                {
                    **keys,
                    **noise,
                    "source": [text + "x" * it for text, it in zip(sources, changed, strict=True)],
                    "changed": changed,
                    "translation": noisy,
                    "judged": noisy,
                    "change": ["other"] * n,
                    "consistency": [80.0] * n,
                },
                schema_overrides=schema,
                strict=False,
            ),
        ],
        how="diagonal",
    )

    def rows(texts: Sequence[str], against: Sequence[str]) -> pl.Series:
        return list_column(judge.statistics(Questions(list(texts), [[text] for text in against], list(sources))))

    before = pl.DataFrame({**keys, "scorer": [judge.name] * n}, strict=False)
    after = pl.DataFrame({**keys, **noise, "scorer": [judge.name] * n}, schema_overrides=schema, strict=False)
    if references is not None:
        before = before.with_columns(statistics=rows(clean, references))
        after = after.with_columns(statistics=rows(noisy, references))
    nothing = pl.lit(None, pl.List(pl.Float64))
    if "reference" in judge.needs:
        after = after.with_columns(forward=rows(noisy, clean), backward=rows(clean, noisy))
    scores = pl.concat([before, after], how="diagonal")
    missing = [name for name in ("statistics", "forward", "backward") if name not in scores.columns]
    return scores.with_columns(**dict.fromkeys(missing, nothing)), translations


def together(parts: Sequence[Tables]) -> Tables:
    keys = ["system", "row", "perturbation", "level"]
    scores, translations = (pl.concat([part[side] for part in parts], how="diagonal") for side in (0, 1))
    return scores.unique(keys, maintain_order=True), translations.unique(keys, maintain_order=True)


def cells(judge: Scorer, *parts: Tables, resamples: int = 500) -> list[Cell]:
    return mt_cells(*together(parts), [judge], resamples, 3)


def measures(judge: Scorer, *parts: Tables, resamples: int = 500) -> list[Measure]:
    return mt_results(*together(parts), [judge], 75.0, resamples, 3)


def named(found: Sequence[Measure], **where: object) -> dict[str, Measure]:
    """Measures of all texts by name, of those at a place."""
    wanted = {"other": None, **where}
    return {one.kind.name: one for one in found if all(getattr(one, name) == value for name, value in wanted.items())}


class Constant(MeanScorer):
    """A scorer that knows its scores by the text."""

    signature = "constant"
    needs: ClassVar[frozenset[str]] = frozenset({"reference"})

    def __init__(self, scores: Mapping[str, float], *, ratio: bool = True, higher: bool = True) -> None:
        self.spec = Spec("constant")
        self.scores = scores
        self.ratio_scale = ratio  # type: ignore[misc]
        self.higher_is_better = higher  # type: ignore[misc]

    def judge(self, questions: Questions) -> Array:
        return np.array([self.scores[text.split()[0]] for text in questions.translations])


def numbered(name: str, n: int = 60) -> list[str]:
    return [f"{name} {number}" for number in range(n)]


@pytest.mark.parametrize(
    ("name", "official"),
    [("bleu[lowercase=true]", BLEU(lowercase=True)), ("chrf", CHRF()), ("chrf++", CHRF(word_order=2))],
)
def test_every_measure_is_what_sacrebleu_gives(name: str, official: BLEU | CHRF) -> None:
    def quality(translations: list[str], references: list[str]) -> float:
        return float(official.corpus_score(translations, [references]).score)

    clean, noisy = quality(CLEAN, REFERENCES), quality(NOISY, REFERENCES)
    there, back = quality(NOISY, CLEAN), quality(CLEAN, NOISY)
    (cell,) = cells(scorer(name), tables(scorer(name)))
    assert {name: drawn.value for name, drawn in cell.numbers.items()} == pytest.approx(
        {
            "quality": clean,
            "quality_perturbed": noisy,
            "delta": noisy - clean,
            "robust": 100 * noisy / clean,
            "consis": 2 * there * back / (there + back),
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
    assert (found["robust"].low, found["robust"].high) == pytest.approx((100, 100))
    assert found["delta"].p == found["robust"].p == found["robust"].p_corrected == 1
    assert found["robust"].verdict == "not significant"


def test_intervals_hold_the_value_and_p_speaks_of_the_drop() -> None:
    found = named(measures(scorer("chrf"), tables(scorer("chrf"))), perturbation="misspell")
    for name in ("quality", "delta", "robust", "consis"):
        one = found[name]
        assert one.low <= one.value <= one.high and one.sd > 0 and (one.n, one.changed) == (6, 6)  # type: ignore[operator]
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
    """COMET −.10 → −.30 would be ROBUST 300, TER 110 → 130 too; both got worse, so by Δ they rank last."""
    judge = Constant({"clean": clean, "noisy": noisy}, higher=higher)
    parts = [
        tables(judge, numbered(text), system, clean=numbered("clean"), references=numbered("r"))
        for system, text in (("worse", "noisy"), ("same", "clean"))
    ]
    found = measures(judge, *parts)
    robust = named(found, system="worse", perturbation="misspell")["robust"]
    assert robust.value is None and "reaches zero" in str(robust.note)
    assert {one.system: one.value for one in found if one.kind.name == "rank"} == {"same": 1.0, "worse": 2.0}
    assert {one.note for one in found if one.kind.name == "rank"} == {"Ranked by Δ."}
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


def test_differences_are_paired_and_of_equal_systems_nil() -> None:
    judge = scorer("chrf")
    one, other = cells(judge, tables(judge), tables(judge, CLEAN, "b"))
    found = {row.kind.name: row for row in system_differences([one, other])}
    assert (found["robust_difference"].system, found["robust_difference"].other) == ("a", "b")
    assert found["robust_difference"].value == pytest.approx(
        one.numbers["robust"].value - other.numbers["robust"].value
    )
    same = {row.kind.name: row for row in system_differences(cells(judge, tables(judge), tables(judge, system="c")))}
    assert same["consis_difference"].value == same["consis_difference"].sd == 0
    assert same["consis_difference"].p == same["consis_difference"].p_corrected == 1


def test_systems_judged_on_other_segments_are_not_compared() -> None:
    judge = scorer("chrf")
    one, other = cells(judge, tables(judge), tables(judge, system="b"))
    other.keys = other.keys + np.uint64(1)
    assert system_differences([one, other]) == []


def test_ranks_and_ties() -> None:
    judge = scorer("chrf")
    found = cells(judge, tables(judge, system="worse"), tables(judge, CLEAN, "good"), tables(judge, CLEAN, "as good"))
    assert {row.system: row.value for row in ranks(found)} == {"good": 1, "as good": 1, "worse": 3}
    assert ranks(found[:1]) == []


def test_the_correlation_of_robust_and_consis_leaves_level_nought_out() -> None:
    judge = scorer("chrf")
    parts = [tables(judge), tables(judge, CLEAN, "b"), tables(judge, [f"x{text[:9]}" for text in CLEAN], "c")]
    found = cells(judge, *parts)
    points = np.array([[cell.numbers["robust"].value, cell.numbers["consis"].value] for cell in found])
    (row,) = robust_consis_correlation(found)
    assert row.value == pytest.approx(float(np.corrcoef(points.T)[0, 1]))
    with_zero = cells(judge, *parts, tables(judge, CLEAN, level=0.0, perturbation="visual"))
    assert robust_consis_correlation(with_zero)[0].n == row.n == 3
    assert robust_consis_correlation(found[:2]) == []


def test_the_overall_figures_are_means_over_perturbations() -> None:
    judge = scorer("chrf")
    kinds: list[dict[str, Any]] = [{"perturbation": "misspell"}, {"perturbation": "case"}]
    parts = [
        tables(judge, noisy, system, **kind)
        for system, texts in (("frail", (NOISY, [text[:20] for text in CLEAN])), ("sturdy", (CLEAN, CLEAN)))
        for kind, noisy in zip(kinds, texts, strict=True)
    ]
    found = measures(judge, *parts)
    each = [one.value for one in found if one.kind.name == "robust" and one.system == "frail"]
    frail, sturdy = (named(found, system=name, perturbation=None) for name in ("frail", "sturdy"))
    assert frail["overall_robust"].value == pytest.approx(np.mean(each))  # type: ignore[arg-type]
    assert frail["overall_robust"].low < frail["overall_robust"].value < frail["overall_robust"].high  # type: ignore[operator]
    assert (sturdy["overall_robust"].value, sturdy["overall_rank"].value) == (100, 1)
    assert frail["overall_rank"].value == 2
    (difference,) = [one for one in found if one.kind.name == "overall_robust_difference"]
    assert difference.value == pytest.approx(frail["overall_robust"].value - 100)  # type: ignore[operator]
    assert difference.p == 2**-5 and difference.verdict == "significant"


def test_measures_over_changed_texts_stand_beside_all() -> None:
    """Two of six texts were changed; the whole loss is theirs."""
    judge = scorer("chrf")
    noisy = [NOISY[0], *CLEAN[1:5], NOISY[5]]
    found = measures(judge, tables(judge, noisy, changed=[True, False, False, False, False, True]))
    here = named(found, perturbation="misspell")
    assert (here["robust"].n, here["robust"].changed, here["robust_changed"].n) == (6, 2, 2)
    assert here["robust"].value > here["robust_changed"].value  # type: ignore[operator]
    assert "Only 2 of 6" in str(here["robust"].note)
    assert here["inconsistent_changed"].n == 2
    assert not any(one.kind.name.endswith("_changed") for one in measures(judge, tables(judge)))


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


def test_blank_sources_are_left_out() -> None:
    judge = scorer("chrf")
    found = named(measures(judge, tables(judge, blank=2)), perturbation="misspell")
    assert found["inconsistent"].n == found["robust"].n == 5


def test_inconsistent_is_the_share_below_the_threshold() -> None:
    judge = scorer("chrf")
    scores, translations = tables(judge)
    marks = pl.Series([None] * 6 + [74.9, 75.0, 80.0, 10.0, 100.0, 76.0])
    found = mt_results(scores, translations.with_columns(consistency=marks), [judge], 75.0, 200, 0)
    (row,) = [one for one in found if one.kind.name == "inconsistent"]
    assert row.value == pytest.approx(100 * 2 / 6)
    assert (row.n, row.scorer) == (6, "chrf")


def test_a_single_segment_proves_nothing_and_says_so() -> None:
    judge = scorer("chrf")
    scores, translations = (table.filter(pl.col("row") == 0) for table in tables(judge))
    found = named(mt_results(scores, translations, [judge], 75.0, 100, 0), perturbation="misspell")
    assert found["delta"].p == found["robust"].p == 1.0
    assert found["delta"].verdict == found["robust"].verdict == "cannot be tested"
    assert "1 segments" in str(found["delta"].note)


def test_the_order_of_rows_changes_nothing() -> None:
    judge = scorer("chrf")
    scores, translations = together([tables(judge), tables(judge, CLEAN, "b")])
    plain = mt_results(scores, translations, [judge], 75.0, 300, 3)
    order = {row: new for new, row in enumerate(np.random.default_rng(0).permutation(6))}
    moved = [
        table.with_columns(pl.col("row").replace_strict(order)).sort("system", "perturbation", "row")
        for table in (scores, translations)
    ]
    again = mt_results(*moved, [judge], 75.0, 300, 3)  # type: ignore[misc]

    def told(found: Sequence[Measure]) -> set[tuple[Any, ...]]:
        return {
            (one.kind.name, one.system, one.value, one.sd, one.low, one.high, one.p, one.p_corrected) for one in found
        }

    assert told(plain) == told(again)


def test_another_scorer_changes_no_verdict() -> None:
    chrf, bleu = scorer("chrf"), scorer("bleu")
    alone = [one for one in measures(chrf, tables(chrf)) if one.scorer == "chrf"]
    scores, translations = tables(chrf)
    both = pl.concat([scores, tables(bleu)[0]], how="diagonal")
    beside = [one for one in mt_results(both, translations, [chrf, bleu], 75.0, 500, 3) if one.scorer == "chrf"]
    assert [(one.kind.name, one.p_corrected) for one in beside] == [(one.kind.name, one.p_corrected) for one in alone]
