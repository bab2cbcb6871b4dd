"""ROBUST, CONSIS and their kin, checked against sacreBLEU and by hand."""

import numpy as np
import polars as pl
import pytest
from sacrebleu.metrics import BLEU, CHRF, TER

from babelquake.scorers import scorer
from babelquake.scorers.base import Scorer
from babelquake.stats.bootstrap import Resampled
from babelquake.studies.mt.robustness import (
    Cell,
    cell_results,
    harmonic_mean,
    inconsistency,
    p_value,
    ranks,
    robust_consis_correlation,
    system_differences,
)

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
    "She bought three apples and one bread at the market .",
    "Nobody knows when the train to city leaves .",
    "In the north of the country it has rained for days .",
    "The minister said taxis would fall again next year .",
    "Our neighbours have painted the old house in green and white .",
]
ROWS = np.arange(len(CLEAN))


def cell(judge: Scorer, noisy: list[str] = NOISY, system: str = "a", references: bool = True) -> Cell:
    def rows(translations: list[str], against: list[str]) -> np.ndarray:
        from babelquake.scorers import Questions

        return judge.statistics(Questions(translations, [[text] for text in against]))

    return Cell(
        "de-en", system, judge, "misspell", 0.1, ROWS,
        rows(CLEAN, REFERENCES) if references else None, rows(noisy, REFERENCES) if references else None,
        rows(noisy, CLEAN), rows(CLEAN, noisy), 500, 3,
    )  # fmt: skip


def values(found: list[dict[str, object]]) -> dict[str, float]:
    return {str(row["measure"]): float(row["value"]) for row in found}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "official"),
    [("bleu[lowercase=true]", BLEU(lowercase=True)), ("chrf", CHRF()), ("chrf++", CHRF(word_order=2))],
)
def test_every_measure_is_what_sacrebleu_gives(name: str, official: BLEU | CHRF) -> None:
    def quality(translations: list[str], references: list[str]) -> float:
        return float(official.corpus_score(translations, [references]).score)

    clean, noisy = quality(CLEAN, REFERENCES), quality(NOISY, REFERENCES)
    there, back = quality(NOISY, CLEAN), quality(CLEAN, NOISY)
    found = values(cell_results(cell(scorer(name))))
    assert found == pytest.approx(
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
    found = values(cell_results(cell(scorer("ter"))))
    assert found["quality"] == pytest.approx(clean) and found["delta"] == pytest.approx(noisy - clean)
    assert found["robust"] == pytest.approx(100 * noisy / clean)
    assert found["robust"] < 100


def test_the_harmonic_mean() -> None:
    one, other = np.array([50.0, 0.0, 100.0]), np.array([100.0, 0.0, 0.0])
    assert harmonic_mean(one, other).tolist() == pytest.approx([200 / 3, 0, 0])


def test_unchanged_translations_are_perfectly_robust_and_consistent() -> None:
    rows = {row["measure"]: row for row in cell_results(cell(scorer("bleu"), noisy=CLEAN))}
    assert (rows["robust"]["value"], rows["consis"]["value"], rows["delta"]["value"]) == pytest.approx((100, 100, 0))
    assert (rows["robust"]["low"], rows["robust"]["high"]) == pytest.approx((100, 100))
    assert rows["delta"]["p"] == rows["robust"]["p"] == 1


def test_intervals_hold_the_value_and_p_speaks_of_the_drop() -> None:
    rows = {row["measure"]: row for row in cell_results(cell(scorer("chrf")))}
    for row in rows.values():
        assert row["low"] <= row["value"] <= row["high"] and row["sd"] > 0 and row["n"] == len(CLEAN)
    assert rows["delta"]["p"] == rows["robust"]["p"] < 0.2
    assert rows["consis"]["p"] is None


def test_without_references_only_agreement_is_measured() -> None:
    assert values(cell_results(cell(scorer("chrf"), references=False))).keys() == {"consis"}


def test_a_clean_score_of_nought_gives_no_ratio() -> None:
    judge = scorer("chrf")
    nothing = np.zeros_like(cell(judge).forward)
    empty = Cell("de-en", "a", judge, "x", None, ROWS, nothing, nothing, nothing, nothing, 100, 0)
    found = values(cell_results(empty))
    assert np.isnan(found["robust"]) and found["consis"] == 0
    assert ranks([empty, empty]) == []


def test_differences_are_paired_and_of_equal_systems_nil() -> None:
    judge = scorer("chrf")
    one, other = cell(judge, system="a"), cell(judge, noisy=CLEAN, system="b")
    rows = {row["measure"]: row for row in system_differences([one, other])}
    assert (rows["robust_difference"]["system"], rows["robust_difference"]["other"]) == ("a", "b")
    assert rows["robust_difference"]["value"] == pytest.approx(
        one.measures["robust"].value - other.measures["robust"].value
    )
    same = {row["measure"]: row for row in system_differences([one, cell(judge, system="c")])}
    assert same["consis_difference"]["value"] == same["consis_difference"]["sd"] == 0
    assert same["consis_difference"]["p"] == 1


def test_systems_judged_on_other_segments_are_not_compared() -> None:
    judge = scorer("chrf")
    one, other = cell(judge), cell(judge, system="b")
    moved = Cell(**{**vars(other), "rows": ROWS + 1})  # type: ignore[arg-type]
    assert system_differences([one, moved]) == []


def test_ranks_and_ties() -> None:
    judge = scorer("chrf")
    cells = [cell(judge, system="worse"), cell(judge, CLEAN, "good"), cell(judge, CLEAN, "as good")]
    found = {row["system"]: row["value"] for row in ranks(cells)}
    assert found == {"good": 1, "as good": 1, "worse": 3}
    assert ranks(cells[:1]) == []


def test_the_correlation_of_robust_and_consis() -> None:
    judge = scorer("chrf")
    cells = [cell(judge), cell(judge, CLEAN, "b"), cell(judge, ["x"] * len(CLEAN), "c")]
    points = np.array([[item.measures["robust"].value, item.measures["consis"].value] for item in cells])
    (row,) = robust_consis_correlation(cells)
    assert row["value"] == pytest.approx(float(np.corrcoef(points.T)[0, 1])) and row["n"] == 3
    assert robust_consis_correlation(cells[:2]) == []


def test_inconsistent_is_the_share_below_the_threshold() -> None:
    translations = pl.DataFrame(
        {
            "language_pair": ["de-en"] * 6,
            "system": ["a"] * 6,
            "perturbation": [None, "case", "case", "case", "case", "case"],
            "level": [None, 0.5, 0.5, 0.5, 0.5, 0.5],
            "row": [0, 0, 0, 1, 2, 3],
            "consistency": [None, 74.9, 75.0, 80.0, 10.0, 100.0],
        }
    )
    (found,) = inconsistency(translations, 75.0, 200, 0)
    assert found["value"] == pytest.approx((50 + 0 + 100 + 0) / 4)
    assert (found["n"], found["scorer"], found["measure"]) == (4, "chrf", "inconsistent")


def test_a_single_segment_proves_nothing() -> None:
    judge = scorer("chrf")
    whole = cell(judge)
    one = Cell(
        "de-en", "a", judge, "misspell", 0.1, ROWS[:1], whole.clean[:1], whole.perturbed[:1],  # type: ignore[index]
        whole.forward[:1], whole.backward[:1], 100, 0,
    )  # fmt: skip
    assert {row["p"] for row in cell_results(one) if row["measure"] in ("delta", "robust")} == {1.0}


@pytest.mark.parametrize(("segments", "least"), [(1, 1.0), (2, 0.5), (3, 0.25), (6, 0.03125)])
def test_few_segments_prove_little(segments: int, least: float) -> None:
    constant = Resampled(-5.0, np.full(1000, -5.0))
    assert p_value(constant, segments) == least
