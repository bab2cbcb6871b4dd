"""The cache keeps every finished result, whatever happens to the process or to the file."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from babelquake.engine import cache as module
from babelquake.engine.cache import Cache, default_path, key_of
from babelquake.errors import ResumableError, UserError

PAGE = 4096


def entries(count: int, size: int = 200, signature: str = "s") -> dict[bytes, bytes]:
    return {key_of(signature, b"%d" % number): bytes([number % 256]) * size for number in range(count)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "results.sqlite"


def filled(path: Path, count: int = 2000) -> dict[bytes, bytes]:
    store = Cache(path)
    store.put(entries(count))
    store.close()
    return entries(count)


def test_what_was_put_is_found_again(path: Path) -> None:
    known = filled(path, 1200)
    found = Cache(path).get([*known, key_of("s", b"unknown")])
    assert found == known


def test_a_changed_signature_never_hits(path: Path) -> None:
    filled(path, 10)
    assert Cache(path).get([key_of("s2", b"%d" % number) for number in range(10)]) == {}
    assert key_of("ab", b"c") != key_of("a", b"bc")
    assert key_of("\ud800", b"") != key_of("\ud801", b"")


def test_a_value_that_fails_its_checksum_counts_as_unknown_and_verify_removes_it(path: Path) -> None:
    known = filled(path, 10)
    victim = next(iter(known))
    with sqlite3.connect(path) as database:
        database.execute("UPDATE results SET value = ? WHERE key = ?", (b"other", victim))
    store = Cache(path)
    assert store.get(list(known)).keys() == known.keys() - {victim}
    assert store.verify() == (9, 1)
    assert store.verify() == (9, 0)


WRITER = """
import sys
from babelquake.engine.cache import Cache, key_of

store = Cache(sys.argv[1])
for batch in range(int(sys.argv[3])):
    texts = [f"{batch} {place}" for place in range(20)]
    store.put({key_of(sys.argv[2], text.encode()): text.encode() * 50 for text in texts})
    print(batch, flush=True)
"""


def written(signature: str, batches: int) -> dict[bytes, bytes]:
    texts = [f"{batch} {place}" for batch in range(batches) for place in range(20)]
    return {key_of(signature, text.encode()): text.encode() * 50 for text in texts}


def test_two_processes_write_at_once(path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name, "25"], stdout=subprocess.DEVNULL)
        for name in ("one", "other")
    ]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0]
    known = written("one", 25) | written("other", 25)
    assert Cache(path).get(list(known)) == known


CREATORS = """
import sys
from babelquake.engine.cache import Cache
print("ready", flush=True)
for line in sys.stdin:
    Cache(line.strip()).close()
"""


def test_many_that_create_a_cache_at_once_wait_for_each_other(path: Path) -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    many = [subprocess.Popen([sys.executable, "-c", CREATORS], **pipes) for _ in range(3)]
    for process in many:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    for number in range(25):
        for process in many:
            assert process.stdin is not None
            process.stdin.write(f"{path.with_name(f'new-{number}.sqlite')}\n".encode())
            process.stdin.flush()
    told = [process.communicate()[1] for process in many]
    assert [process.returncode for process in many] == [0] * 3, told


def test_kill_9_in_the_middle_of_writing_loses_no_finished_entry(path: Path) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), "s", "1000000"], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    finished = 0
    for line in writer.stdout:
        finished = int(line) + 1
        if finished >= 15:
            os.kill(writer.pid, signal.SIGKILL)
            break
    writer.wait()
    writer.stdout.close()
    store = Cache(path)
    known = written("s", finished)
    assert store.warning == ""
    assert store.get(list(known)) == known
    assert store.verify()[1] == 0


def broken(path: Path, page: int, content: bytes = b"\xa5" * PAGE) -> None:
    with path.open("r+b") as file:
        file.seek(page * PAGE)
        file.write(content)


def test_a_file_of_the_users_is_refused_and_left_alone(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("my thesis, the only copy\n")
    with pytest.raises(UserError, match="not a babelquake cache and was left alone"):
        Cache(path)
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert path.read_text() == "my thesis, the only copy\n"
    path.unlink()
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE addresses (name TEXT)")
    database.close()
    before = path.read_bytes()
    with pytest.raises(UserError, match="not a babelquake cache"):
        Cache(path)
    assert path.read_bytes() == before


def test_looking_creates_nothing(path: Path) -> None:
    assert Cache.look(path).entries == 0
    assert not path.parent.exists()


def test_paid_answers_are_on_the_disk_before_they_count(path: Path) -> None:
    store = Cache(path)
    store.put(entries(1), durable=True)
    assert store._database.execute("PRAGMA synchronous").fetchone() == (2,)
    store.put(entries(2))
    assert store._database.execute("PRAGMA synchronous").fetchone() == (1,)


def test_a_file_that_is_no_database_where_caches_lie_is_told_about_and_replaced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("BABELQUAKE_CACHE")
    path = default_path()
    path.parent.mkdir()
    path.write_bytes(b"this is not a cache" * 1000)
    told: list[str] = []
    store = Cache(path, tell=told.append)
    assert told == [store.warning]
    assert "was damaged" in store.warning and "rebuilt with the 0 entries" in store.warning
    aside = next(file for file in path.parent.iterdir() if ".damaged-" in file.name)
    assert aside.name in store.warning and aside.read_bytes().startswith(b"this is not")
    store.put(entries(5))
    assert Cache(path).warning == "" and Cache(path).info().entries == 5


@pytest.mark.parametrize("pages", [(40,), (30, 60)])
def test_a_broken_page_costs_the_entries_on_it_and_no_others(path: Path, pages: tuple[int, ...]) -> None:
    known = filled(path)
    for page in pages:
        broken(path, page)
    store = Cache(path)
    found = store.get(list(known))
    assert store.warning
    assert found.items() <= known.items()
    assert len(found) >= len(known) - 40 * len(pages)
    assert f"{len(found)} entries" in store.warning


def test_entries_still_in_the_log_survive_damage_to_the_file(path: Path) -> None:
    known = filled(path)
    late = entries(30, signature="late")
    child = "import os, sys; from babelquake.engine.cache import Cache; s = Cache(sys.argv[1]); "
    child += "s.put({bytes.fromhex(k): b'late' for k in sys.argv[2:]}); os._exit(0)"
    subprocess.run([sys.executable, "-c", child, str(path), *(key.hex() for key in late)], check=True)
    assert path.with_name(path.name + "-wal").stat().st_size > 0
    broken(path, 40)
    store = Cache(path)
    assert store.warning
    assert len(store.get(list(late))) >= 25
    assert len(store.get(list(known))) >= len(known) - 80


def test_damage_that_shows_only_in_use_is_mended_there(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large files are not read through as they are opened."""
    known = filled(path)
    broken(path, 40)
    monkeypatch.setattr(module, "QUICKLY_CHECKED", 0)
    told: list[str] = []
    store = Cache(path, tell=told.append)
    assert not told
    found = store.get(list(known))
    assert len(told) == 1 and found.items() <= known.items() and len(found) >= len(known) - 40
    store.put(known)
    assert store.get(list(known)) == known and store.verify() == (len(known), 0)


def test_verify_finds_damage_in_a_large_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = filled(path)
    broken(path, 40)
    monkeypatch.setattr(module, "QUICKLY_CHECKED", 0)
    store = Cache(path)
    sound, damaged = store.verify()
    assert store.warning and damaged == 0 and len(known) - 40 <= sound < len(known)


def test_the_least_recently_used_go_first(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1_000_000.0]
    monkeypatch.setattr(module.time, "time", lambda: clock[0])
    store = Cache(path, limit_bytes=500_000)
    old = entries(400, signature="old")
    store.put(old)
    clock[0] += 10_000
    middle = entries(400, signature="middle")
    store.put(middle)
    clock[0] += 10_000
    used = list(old)[:50]
    assert len(store.get(used)) == 50
    clock[0] += 10_000
    store.put(entries(800, signature="new"))
    assert store.info().bytes <= 500_000
    assert len(store.get(used)) == 50
    assert len(store.get(list(old)[50:])) == 0
    assert len(store.get(list(entries(800, signature="new")))) == 800


def test_info_and_clear(path: Path) -> None:
    filled(path, 300)
    store = Cache(path, limit_bytes=10**9)
    info = store.info()
    assert (info.path, info.entries, info.limit_bytes) == (str(path), 300, 10**9) and info.bytes > 60_000
    assert store.clear() == 300
    assert store.info().entries == 0 and store.info().bytes < info.bytes


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BABELQUAKE_CACHE", "/somewhere/c.sqlite")
    assert default_path() == Path("/somewhere/c.sqlite")
    monkeypatch.delenv("BABELQUAKE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert default_path() == Path("/x/babelquake/results.sqlite")


def test_a_place_that_cannot_hold_a_cache_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be created"):
        Cache(tmp_path / "file" / "results.sqlite")
    with pytest.raises(UserError, match=r"cannot be opened: .* another file"):
        Cache(tmp_path)


def test_a_full_disk_keeps_finished_entries(path: Path) -> None:
    store = Cache(path)
    store.put(entries(20))
    pages = store._database.execute("PRAGMA page_count").fetchone()[0]
    store._database.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(ResumableError, match="the disk is full"):
        store.put(entries(2000, signature="more"))
    assert store.get(list(entries(20))) == entries(20)


def test_a_cache_held_by_another_process_is_an_interruption(path: Path) -> None:
    store = Cache(path)
    store._database.execute("PRAGMA busy_timeout = 10")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(ResumableError, match="database is locked"):
        store.put(entries(1))
    other.execute("ROLLBACK")
    store.put(entries(1))
