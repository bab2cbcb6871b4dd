"""Whatever a command writes is whole or not there, and one process at a time holds a lock."""

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from babelquake.errors import UserError
from babelquake.files import locked, store_text

ROOT = Path(__file__).resolve().parents[1]
IN_PLACE = re.compile(r"\.write_(?:text|bytes)\(|\bopen\([^)]*[\"'][wax]b?[\"']")
NEW_FOLDERS = ("train/", "models/")
"""Trainings and conversions fill folders of their own, and their card comes last."""
ELSEWHERE = {
    "files.py": "this is how",
    "cli/guard.py": "the log of a crash, and the empty device",
    "runs/tables.py": "a line more for every sentence that is finished",
}
KILLED = """
import os, sys
from pathlib import Path
import polars as pl
from babelquake import files
files._flush = lambda path: os._exit(9)
target = Path(sys.argv[1])
"""
WRITERS = {
    "table.tsv": "from babelquake.data import write; write(pl.DataFrame({'a': ['new']}), target)",
    "table.parquet": "from babelquake.data import write; write(pl.DataFrame({'a': ['new']}), target)",
    "x.seg.score": "from babelquake.studies.human.findings import export\n"
    "export(pl.DataFrame({'system': ['s'], 'segment': ['1'], 'z': [.5], 'raw': [.5]}), target)",
    "sources.txt": "from babelquake.systems.files import export; export(target.parent, ['new'])",
    "page.html": "files.store_text('new', target)",
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_kill_while_a_file_is_written_leaves_the_old_one(name: str, tmp_path: Path) -> None:
    target = tmp_path / name
    target.write_text("old")
    words = [sys.executable, "-c", KILLED + WRITERS[name], str(target)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 9, done.stderr
    assert target.read_text() == "old"


def test_nothing_is_written_in_place() -> None:
    source = ROOT / "src" / "babelquake"
    names = {path.relative_to(source).as_posix(): path.read_text("utf-8") for path in source.rglob("*.py")}
    found = {name for name, text in names.items() if IN_PLACE.search(text) and not name.startswith(NEW_FOLDERS)}
    assert found == set(ELSEWHERE)


def test_an_error_names_the_file_that_was_meant(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "nowhere" / "page.html", tmp_path / "folder"):
        with pytest.raises(OSError) as told:
            store_text("new", path)
        assert told.value.filename == str(path)
    assert sorted(tmp_path.iterdir()) == [tmp_path / "folder"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are Unix's")
def test_a_pipe_or_a_device_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    """Whoever may write to /dev had `--html /dev/null` make a file of the device."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    for name in ("pipe", "link"):
        with pytest.raises(UserError, match=name):
            store_text("new", tmp_path / name)
    assert (tmp_path / "pipe").is_fifo() and (tmp_path / "link").is_symlink()


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
