"""Garbage is looked for seldom while searches run, and as before afterwards."""

import gc
from collections.abc import Generator

import pytest

from babelquake.engine.pool import pool


def search(seen: list[tuple[int, int]]) -> Generator[list[int], list[int], int]:
    (answer,) = yield [1]
    seen.append((gc.get_threshold()[0], gc.get_freeze_count()))
    return answer


def test_searches_are_not_disturbed() -> None:
    before, seen = gc.get_threshold(), list[tuple[int, int]]()
    assert list(pool([search(seen)], lambda asked: asked)) == [(0, 1)]
    threshold, frozen = seen[0]
    assert threshold > before[0] and frozen > 0
    assert gc.get_threshold() == before and gc.get_freeze_count() == 0


def test_an_error_leaves_the_collector_as_it_was() -> None:
    before = gc.get_threshold()

    def broken(asked: list[int]) -> list[int]:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        list(pool([search([])], broken))
    assert gc.get_threshold() == before and gc.get_freeze_count() == 0
