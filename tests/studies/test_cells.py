"""Cells that are compared: what exchanging whole segments between two of them gives."""

from itertools import product

import numpy as np
import pytest

from babelquake.scorers.base import Array
from babelquake.studies.cells import Cell, Place, exchangeable, exchanged, paired_test


def ratio(noisy: Array, clean: Array) -> Array:
    return np.asarray(100 * noisy[..., 0] / clean[..., 0])


def cell(seed: int, segments: int) -> Cell:
    made = Cell(Place("de-en", "chrf"), np.arange(segments, dtype=np.uint64), segments)
    chance = np.random.default_rng(seed)
    made.compute({"robust": ratio}, [chance.uniform(1, 9, (segments, 1)) for _ in range(2)], 200, 0)
    return made


def test_every_draw_is_the_number_itself_after_some_segments_changed_sides() -> None:
    one, other = cell(1, 4), cell(2, 4)
    first, second = exchanged(one, other)
    possible = []
    for moved in product((False, True), repeat=4):
        sides = [
            [np.where(np.array(moved)[:, None], there, here) for here, there in zip(a.tables, b.tables, strict=True)]
            for a, b in ((one, other), (other, one))
        ]
        possible.append([float(ratio(*(table.sum(axis=0) for table in tables))) for tables in sides])
    drawn = np.column_stack([first.numbers["robust"].values, second.numbers["robust"].values])
    gaps = np.abs(drawn[:, None, :] - np.array(possible)[None]).max(axis=2)
    assert gaps.min(axis=1).max() < 1e-9
    assert set(gaps.argmin(axis=1)) == set(range(16))


def test_arrangements_of_whole_segments_decide_where_they_are_given() -> None:
    one, other = cell(1, 60), cell(2, 60)
    first, second = exchanged(one, other)
    moved = first.numbers["robust"].values - second.numbers["robust"].values
    found = paired_test(one, other, "robust", few=500, arranged=moved, alike=True)
    assert found.value == pytest.approx(one.numbers["robust"].value - other.numbers["robust"].value)
    assert found.method == "randomisation" and np.array_equal(found.null, moved)


@pytest.mark.parametrize("seed", [7, 8])
def test_of_two_systems_the_more_careful_arrangement_holds(seed: int) -> None:
    """Systems of other quality may be equally robust: the rows of one among those of the other are then no null."""
    one, other = cell(seed, 40), cell(seed + 50, 40)
    alike, both = (paired_test(one, other, "robust", alike=alike).p for alike in (True, False))
    other.tables = []
    signs = paired_test(one, other, "robust").p
    assert signs != alike and both == max(signs, alike)


def test_tables_of_many_segments_are_not_kept() -> None:
    assert exchangeable(cell(1, 500), cell(2, 500))
    assert not exchangeable(cell(1, 501), cell(2, 501))
