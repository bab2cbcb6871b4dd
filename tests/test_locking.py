"""One process at a time holds a lock."""

import threading
from pathlib import Path

import pytest

from babelquake.locking import locked


def test_a_held_lock_is_refused_or_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    inside: list[int] = []

    def enter() -> None:
        with locked(path, wait=True):
            inside.append(1)

    with locked(path, wait=False):
        with pytest.raises(BlockingIOError), locked(path, wait=False):
            pass
        waiting = threading.Thread(target=enter)
        waiting.start()
        waiting.join(0.1)
        assert not inside
    waiting.join(10)
    assert inside == [1] and not path.exists()


def test_a_file_left_by_a_dead_process_and_an_error_inside_hold_nobody_up(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    with pytest.raises(ZeroDivisionError), locked(path, wait=False):
        _ = 1 / 0
    with locked(path, wait=False):
        pass


def test_many_threads_take_turns(tmp_path: Path) -> None:
    together = most = turns = 0

    def enter() -> None:
        nonlocal together, most, turns
        for _ in range(20):
            with locked(tmp_path / "lock", wait=True):
                together += 1
                most = max(most, together)
                together, turns = together - 1, turns + 1

    threads = [threading.Thread(target=enter) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert (most, turns) == (1, 80)


def test_a_link_in_the_place_of_a_lock_is_not_followed(tmp_path: Path) -> None:
    treasure = tmp_path / "treasure"
    treasure.write_text("gold")
    (tmp_path / "lock").symlink_to(treasure)
    with pytest.raises(OSError), locked(tmp_path / "lock", wait=False):
        pass
    assert treasure.read_text() == "gold"
