"""Simulated annotators on real tasks: quality control keeps the honest and rejects the others."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from tests.annotate.conftest import tuple_rows

from babelquake.annotate.material import Tuple
from babelquake.annotate.prepare import Recipe, hits
from babelquake.annotate.project import Item
from babelquake.data.ratings import ratings_frame
from babelquake.studies.human.people import annotator_quality, hit_quality, share_passed

PEOPLE = 100
Draw = np.random.Generator
Rater = Callable[[Draw, Item, str, dict[tuple[str, str], float]], float]


def honest(draw: Draw, item: Item, side: str, quality: dict[tuple[str, str], float]) -> float:
    """Sees the quality with an error of ten points; four missing words cost fifteen to forty-five."""
    loss = draw.uniform(15, 45) if item.type == "BAD_REF" else 0.0
    return quality[(item.judged.id, side)] - loss + draw.normal(0, 10)


def random(draw: Draw, item: Item, side: str, quality: dict[tuple[str, str], float]) -> float:
    return draw.uniform(0, 100)


def lazy(draw: Draw, item: Item, side: str, quality: dict[tuple[str, str], float]) -> float:
    """Nudges the slider: anywhere near the middle."""
    return 50 + draw.normal(0, 4)


def always_100(draw: Draw, item: Item, side: str, quality: dict[tuple[str, str], float]) -> float:
    return 100.0


@pytest.fixture(scope="module")
def task() -> list[Item]:
    material = [
        Tuple(row["id"], row["id"], {"original": row["original"], "perturbed": row["perturbed"]}, {})
        for row in tuple_rows(70)
    ]
    return next(hits(material, Recipe(seed=2)))[0]


def rated(task: list[Item], rater: Rater, seed: int) -> pl.DataFrame:
    """One task each by many annotators of a kind."""
    draw = np.random.default_rng(seed)
    columns: dict[str, list[object]] = {name: [] for name in ("hit", "annotator", "system", "segment", "type", "raw")}
    for person in range(PEOPLE):
        quality = {(item.judged.id, side): draw.uniform(30, 95) for item in task for side in item.texts}
        for item in task:
            for side in item.texts:
                score = float(np.clip(round(rater(draw, item, side, quality)), 0, 100))
                row = (f"h{person}", f"a{person}", side, item.judged.id, item.type, score)
                for name, value in zip(columns, row, strict=True):
                    columns[name].append(value)
    return ratings_frame(columns)


def test_the_honest_pass(task: list[Item]) -> None:
    frame = rated(task, honest, 1)
    assert share_passed(hit_quality(frame)) >= 0.95  # type: ignore[operator]
    assert share_passed(annotator_quality(frame)) >= 0.95  # type: ignore[operator]


@pytest.mark.parametrize("rater", [random, lazy, always_100])
def test_the_others_are_rejected(task: list[Item], rater: Rater) -> None:
    frame = rated(task, rater, 2)
    assert share_passed(hit_quality(frame)) <= 0.10  # type: ignore[operator]
    assert share_passed(annotator_quality(frame)) <= 0.10  # type: ignore[operator]


def test_whoever_scores_damaged_text_higher_fails(task: list[Item]) -> None:
    def upside_down(draw: Draw, item: Item, side: str, quality: dict[tuple[str, str], float]) -> float:
        return 100 - honest(draw, item, side, quality)

    assert share_passed(hit_quality(rated(task, upside_down, 3))) == 0.0


def test_without_control_items_nobody_is_judged(task: list[Item]) -> None:
    frame = rated([item for item in task if item.type == "SYSTEM"], honest, 4)
    assert hit_quality(frame)["passed"].null_count() == PEOPLE
    assert share_passed(hit_quality(frame)) is None
