"""The figures over all perturbations."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.studies.mt.made import CLEAN, NOISY, REFERENCES, Constant, Tables, cells, measures, named, numbered, tables

from babelquake.runs.measures import Measure
from babelquake.scorers import scorer
from babelquake.stats.bootstrap import Resampled
from babelquake.stats.resampling import keys_by_place
from babelquake.studies.cells import Cell, Place
from babelquake.studies.mt.robustness import LEAST_CHANGED, overall, overall_cell

TIMES = 10


def enough(noisy: Sequence[str], system: str, perturbation: str, clean: Sequence[str] = CLEAN) -> Tables:
    """Tables of sixty segments."""
    return tables(
        scorer("chrf"),
        list(noisy) * TIMES,
        system,
        references=REFERENCES * TIMES,
        clean=list(clean) * TIMES,
        perturbation=perturbation,
    )


def two_systems() -> list[Measure]:
    """A frail system, and one that says the same whatever is done to the source."""
    texts = {"frail": (NOISY, [text[:20] for text in CLEAN]), "steady": (CLEAN, CLEAN)}
    names = ("misspell", "case")
    return measures(
        scorer("chrf"),
        *(
            enough(noisy, system, name)
            for system, pair in texts.items()
            for noisy, name in zip(pair, names, strict=True)
        ),
    )


def test_overall_quality_is_a_mean_over_perturbations_and_overall_robust_the_ratio_of_two_such_means() -> None:
    found = two_systems()
    cells = [named(found, system="frail", perturbation=name) for name in ("misspell", "case")]
    noisy, clean = (
        float(np.mean([cell[name].value for cell in cells]))  # type: ignore[arg-type]
        for name in ("quality_perturbed", "quality")
    )
    frail, steady = (named(found, system=name, perturbation=None) for name in ("frail", "steady"))
    assert frail["overall_quality_perturbed"].value == pytest.approx(noisy)
    assert frail["overall_quality"].value == pytest.approx(clean)
    assert frail["overall_robust"].value == pytest.approx(100 * noisy / clean)
    assert frail["overall_delta"].value == pytest.approx(noisy - clean)
    for one in ("quality_perturbed", "robust", "consis", "delta"):
        measure = frail[f"overall_{one}"]
        assert measure.low < measure.value < measure.high  # type: ignore[operator]
    assert steady["overall_robust"].value == 100


def test_systems_are_ranked_by_quality_under_noise_and_the_difference_is_tested() -> None:
    """A system that never changes its mind is not the best where its translations are poor."""
    good, poor = CLEAN, [text[:15] for text in CLEAN]
    found = measures(
        scorer("chrf"), enough(NOISY, "good", "misspell", good), enough(poor, "poor", "misspell", poor), resamples=2000
    )
    ranks = {one.system: one.value for one in found if one.kind.name == "overall_rank"}
    assert ranks == {"good": 1, "poor": 2}
    assert named(found, system="poor", perturbation=None)["overall_robust"].value == 100
    (difference,) = [one for one in found if one.kind.name == "overall_quality_perturbed_difference"]
    assert difference.system == "good" and difference.value > 20 and difference.verdict == "significant"  # type: ignore[operator]


def test_equal_systems_share_the_first_rank() -> None:
    found = measures(scorer("chrf"), enough(NOISY, "one", "misspell"), enough(NOISY, "other", "misspell"))
    assert {one.value for one in found if one.kind.name == "overall_rank"} == {1}
    assert {one.p for one in found if one.kind.name.startswith("overall") and one.other} == {1}


def test_perturbations_of_few_segments_are_left_out_and_named() -> None:
    judge = scorer("chrf")
    few = tables(
        judge,
        [text[:9] for text in CLEAN] * TIMES,
        references=REFERENCES * TIMES,
        clean=CLEAN * TIMES,
        changed=[row < LEAST_CHANGED - 1 for row in range(6 * TIMES)],
        perturbation="final-delete[mark=question]",
        level=None,
    )
    found = measures(judge, enough(NOISY, "a", "misspell"), few)
    whole, alone = named(found, perturbation=None), named(found, perturbation="misspell")
    assert whole["overall_quality_perturbed"].value == alone["quality_perturbed"].value
    for one in ("quality", "quality_perturbed", "robust", "consis", "delta"):
        assert "final question mark missing (19)" in (whole[f"overall_{one}"].note or "")


def test_without_a_perturbation_of_enough_segments_there_is_no_overall_figure() -> None:
    whole = named(measures(scorer("chrf"), tables(scorer("chrf"))), perturbation=None)
    assert whole["overall_robust"].value is None and "typos (10 % of words) (6)" in (whole["overall_robust"].note or "")


def test_scores_without_a_true_zero_have_an_overall_quality_and_no_overall_robust() -> None:
    judge = Constant({"good": 0.2, "bad": -0.4}, ratio=False)
    texts = {"references": numbered("good"), "clean": numbered("good")}
    whole = named(measures(judge, tables(judge, numbered("bad"), **texts)), perturbation=None)  # type: ignore[arg-type]
    assert whole["overall_quality_perturbed"].value == pytest.approx(-0.4)
    assert whole["overall_robust"].value is None and "no true zero" in (whole["overall_robust"].note or "")


def cell(name: str, clean: float, noisy: float, changed: int = 50) -> Cell:
    """A cell of known qualities."""
    found = Cell(Place("de-en", "bleu", name, None, "a"), keys_by_place(60), 60, changed)
    for measure, value in (
        ("quality", clean),
        ("quality_perturbed", noisy),
        ("robust", 100 * noisy / max(clean, 1e-9)),
    ):
        found.numbers[measure] = Resampled(value, np.full(100, value))
    return found


def test_one_cell_of_poor_clean_quality_does_not_make_the_headline() -> None:
    """Clean BLEU 6.0 and ROBUST 206.6 in one cell of eight whose others keep 87 %."""
    others = [cell(str(number), 30, 26.1) for number in range(7)]
    outlier = cell("final-insert", 6.0, 6.0 * 2.066)
    assert np.mean([one.numbers["robust"].value for one in (*others, outlier)]) > 101
    assert overall_cell([*others, outlier]).numbers["overall_robust"].value == pytest.approx(90.3, abs=0.1)


def test_parts_of_the_data_do_not_count_twice() -> None:
    whole = cell("misspell", 30, 20)
    part = cell("misspell", 10, 1)
    part.place = replace(part.place, group="news")
    (found,) = [one for one in overall([whole, part]) if one.kind.name == "overall_quality_perturbed"]
    assert found.value == 20


quality = st.floats(0.0, 100.0)


@given(st.lists(st.tuples(quality, quality), min_size=2, max_size=12), quality, quality)
def test_no_cell_moves_a_pooled_quality_by_more_than_its_share(
    pairs: list[tuple[float, float]], clean: float, noisy: float
) -> None:
    cells = [cell(str(number), *pair) for number, pair in enumerate(pairs)]
    before, after = overall_cell(cells), overall_cell([cell("other", clean, noisy), *cells[1:]])
    for name in ("overall_quality", "overall_quality_perturbed"):
        assert abs(after.numbers[name].value - before.numbers[name].value) <= 100 / len(cells) + 1e-9


@given(st.lists(st.tuples(st.floats(20, 60), st.floats(0.5, 1.0)), min_size=4, max_size=12), quality, quality)
def test_no_cell_moves_the_overall_robust_by_more_than_a_bound(
    pairs: list[tuple[float, float]], clean: float, noisy: float
) -> None:
    """|R′ − R| ≤ 100/k · (100 + R)/C′, where C′ is at least what the other cells bring."""
    cells = [cell(str(number), good, good * kept) for number, (good, kept) in enumerate(pairs)]
    before, after = overall_cell(cells), overall_cell([cell("other", clean, noisy), *cells[1:]])
    one, two = (whole.numbers["overall_robust"].value for whole in (before, after))
    assert abs(two - one) <= 100 / len(cells) * (100 + one) / after.numbers["overall_quality"].value + 1e-9


@pytest.mark.parametrize(("measure", "every"), [("robust", ((2, 10), (2, 5))), ("consis", ((3, 2), (2, 24)))])
def test_of_few_segments_whole_rows_of_two_systems_change_sides(
    measure: str, every: tuple[tuple[int, int], tuple[int, int]]
) -> None:
    """BLEU is no sum over segments; what each contributes adds up to another number than the one reported."""
    judge, count = scorer("bleu"), len(CLEAN) * 4

    def cut(texts: Sequence[str], each: int) -> list[str]:
        return [text if row % each else " ".join(text.split()[:3]) for row, text in enumerate(list(texts) * 4)]

    parts = [
        tables(judge, cut(NOISY, noisy), name, references=REFERENCES * 4, clean=cut(CLEAN, clean))
        for name, (noisy, clean) in zip("ab", every, strict=True)
    ]
    found = {one.kind.name: one for one in measures(judge, *parts, resamples=4000) if one.other is not None}
    one, other = cells(judge, *parts)
    chance, reached = np.random.default_rng(0), []
    for _ in range(1000):
        swapped = chance.random((count, 1)) < 0.5
        pairs = [
            (np.where(swapped, b, a), np.where(swapped, a, b)) for a, b in zip(one.tables, other.tables, strict=True)
        ]
        here, there = (one.formulas[measure](*(pair[side].sum(axis=0) for pair in pairs)) for side in (0, 1))
        reached.append(abs(here - there) >= abs(found[f"{measure}_difference"].value or 0.0))
    p = found[f"{measure}_difference"].p
    assert p == pytest.approx(np.mean(reached), abs=0.04) and 0.01 < np.mean(reached) < 0.9
    assert found[f"overall_{measure}_difference"].p == p
