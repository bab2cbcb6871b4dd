"""Work on all cores: in order, no deeper than one level, and one by one where pieces are large."""

import threading

import pytest

from babelquake.stats.parallel import cores, in_parallel


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("babelquake.stats.parallel.cores", lambda: 2)


def where(_: int) -> str:
    return threading.current_thread().name


def test_results_come_in_order() -> None:
    assert list(in_parallel(lambda number: number * number, range(50))) == [number * number for number in range(50)]


def test_pieces_are_worked_on_elsewhere_and_not_cut_again() -> None:
    here = threading.current_thread().name
    assert here not in set(in_parallel(where, range(9)))
    for outer, inner in in_parallel(lambda number: (where(0), set(in_parallel(where, range(4)))), range(4)):
        assert inner == {outer}


def test_large_pieces_go_one_by_one() -> None:
    assert set(in_parallel(where, range(4), segments=10**6)) == {threading.current_thread().name}


def test_an_error_ends_the_work() -> None:
    with pytest.raises(ZeroDivisionError):
        list(in_parallel(lambda number: 1 // number, [3, 2, 1, 0, 1]))


def test_the_environment_lowers_the_number_of_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BABELQUAKE_CORES", "1")
    assert cores() == 1
    monkeypatch.setenv("BABELQUAKE_CORES", "100000")
    assert cores() < 100_000
