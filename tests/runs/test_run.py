"""A run folder holds finished work only, and continues where it stopped."""

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from babelquake.errors import ResumableError, UserError, read_at_terminal
from babelquake.files import disk
from babelquake.runs.measures import COLUMNS, Kind, Measure, measures_frame
from babelquake.runs.run import Run, differing
from babelquake.runs.tables import Parts

CONFIG = {"seed": 1, "suite": ["misspell[level=0.1]"], "system": ["command[cmd=cat]"], "data": "d.tsv#12"}
TABLE = pl.DataFrame({"row": [0, 1], "text": ["ä", None]})


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.resume(tmp_path / "run", "mt", CONFIG)


def never() -> pl.DataFrame:
    raise AssertionError("made twice")


def test_a_table_is_made_once_and_read_back_ever_after(run: Run) -> None:
    assert run.once("segments", lambda: TABLE).equals(TABLE)
    again = Run.resume(run.folder, "mt", CONFIG)
    assert again.once("segments", never).equals(TABLE)
    assert Run.open(run.folder).segments.equals(TABLE)


@pytest.mark.parametrize(
    ("study", "change", "facts"),
    [
        ("mt", {"seed": 2}, ["seed=1", "seed=2", "another out"]),
        (
            "mt",
            {"data": "d.tsv#13"},
            ["other segments of d.tsv", "limit", "columns"],
        ),
        ("mt", {"data": "e.tsv#12"}, ["data='d.tsv#12'", "data='e.tsv#12'"]),
        ("mt", {"suite": ["case", "misspell"]}, ["misspell[level=0.1]", "case, misspell"]),
        ("mt", {"resamples": 5}, ["no resamples", "resamples=5"]),
        ("metric", {}, ["mt run", "another out"]),
    ],
)
def test_another_configuration_is_refused_with_the_difference_named(
    run: Run, study: str, change: dict[str, object], facts: list[str]
) -> None:
    run.once("segments", lambda: TABLE)
    with pytest.raises(UserError) as caught:
        Run.resume(run.folder, study, CONFIG | change)
    assert all(fact in str(caught.value) for fact in [*facts, str(run.folder)]), str(caught.value)


@pytest.mark.parametrize("status", ["failed", "interrupted"])
@pytest.mark.parametrize("table", ["variants", "scores"])
def test_a_run_that_failed_before_its_first_result_can_be_corrected(run: Run, table: str, status: str) -> None:
    """An error before anything was asked, such as a checkpoint of another kind: texts are made anew."""
    run.once("segments", lambda: TABLE)
    Parts(run.folder, table).store("000000", TABLE)
    run.info.status = status  # type: ignore[assignment]
    run.save()
    if (status, table) == ("failed", "variants"):
        corrected = Run.resume(run.folder, "mt", CONFIG | {"seed": 2})
        assert not corrected.has("segments") and not Parts(run.folder, table).has("000000")
    else:
        with pytest.raises(UserError, match="restart=True"):
            Run.resume(run.folder, "mt", CONFIG | {"seed": 2})


def test_restart_begins_again_and_spares_what_is_not_the_runs(run: Run) -> None:
    run.once("segments", lambda: TABLE)
    (run.folder / "notes.txt").write_text("mine")
    fresh = Run.resume(run.folder, "mt", CONFIG | {"seed": 2}, restart=True)
    assert not fresh.has("segments") and fresh.info.config["seed"] == 2
    assert (run.folder / "notes.txt").read_text() == "mine"


def test_restart_leaves_a_folder_alone_that_another_process_writes_to(run: Run) -> None:
    run.once("segments", lambda: TABLE)
    with run.alone(), pytest.raises(UserError, match="another process is writing"):
        Run.resume(run.folder, "mt", CONFIG, restart=True)
    assert run.has("segments")


def test_a_folder_with_other_things_is_refused(tmp_path: Path) -> None:
    (tmp_path / "segments.parquet").write_text("precious")
    for restart in (False, True):
        with pytest.raises(UserError, match="exists and is not a run folder"):
            Run.resume(tmp_path, "mt", CONFIG, restart)
    assert (tmp_path / "segments.parquet").read_text() == "precious"
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="not a run folder"):
        Run.resume(tmp_path / "file", "mt", CONFIG)


def test_a_run_killed_as_it_began_begins_again(tmp_path: Path) -> None:
    (tmp_path / "run.json.writing").write_text('{"stu')
    assert Run.resume(tmp_path, "mt", CONFIG).info.config == CONFIG


def test_what_is_no_run_is_said_to_be_none(tmp_path: Path, run: Run) -> None:
    with pytest.raises(UserError, match=r"not a run folder: it has no run\.json"):
        Run.open(tmp_path)
    with pytest.raises(UserError, match="has no scores yet"):
        _ = run.scores
    (run.folder / "run.json").write_text("{")
    with pytest.raises(UserError, match="is not a run description"):
        Run.open(run.folder)


def test_a_table_that_a_finished_run_does_not_have_is_told_from_one_still_to_come(run: Run) -> None:
    with pytest.raises(UserError, match="has no translations yet: run the command"):
        run.table("translations")
    run.once("segments", lambda: TABLE)
    run.finish(measures_frame([]))
    with pytest.raises(UserError, match=r"a run of mt, has no table segment\. Did you mean 'segments'"):
        run.table("segment")


def test_a_half_written_table_does_not_count(run: Run) -> None:
    run.path("scores").with_suffix(".writing").write_bytes(b"PAR1 half")
    assert not run.has("scores")
    assert run.once("scores", lambda: TABLE).equals(TABLE)


def test_one_process_writes_at_a_time(run: Run) -> None:
    with run.alone(), pytest.raises(UserError, match="another process is writing"), Run.open(run.folder).alone():
        pass
    with run.alone():
        pass
    assert not (run.folder / ".lock").exists()


def test_what_another_process_finished_meanwhile_is_taken_over(run: Run) -> None:
    late = Run.resume(run.folder, "mt", CONFIG)
    with run.alone():
        run.once("scores", lambda: TABLE)
    with late.alone():
        assert late.info.files == run.info.files and late.table("scores").equals(TABLE)


def test_another_run_begun_meanwhile_is_not_mixed_up_with_this_one(run: Run) -> None:
    with run.alone():
        run.once("scores", lambda: TABLE)
    Run.resume(run.folder, "mt", CONFIG | {"seed": 2}, restart=True)
    with pytest.raises(UserError, match="seed"), run.alone():
        pass


def test_a_lock_left_by_a_killed_process_holds_nobody_up(run: Run) -> None:
    (run.folder / ".lock").touch()
    with run.alone():
        pass


NAMES = ["0", "1", "2"]


def filled(run: Run, made: list[str], kill: str | None = None) -> dict[str, pl.LazyFrame]:
    """Two tables of three parts each; a kill comes while that part is made."""
    for table in ("variants", "scores"):
        for name in NAMES:
            if run.parts(table).has(name):
                continue
            if kill == f"{table} {name}":
                raise KeyboardInterrupt
            made.append(f"{table} {name}")
            run.parts(table).store(name, pl.DataFrame({"table": [table] * 2, "part": [name] * 2}))
    return run.join(variants=NAMES, scores=NAMES)


def test_parts_are_joined_in_order_and_no_finished_part_is_made_twice(run: Run) -> None:
    made: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        filled(run, made, kill="scores 1")
    assert not run.has("variants") and not run.has("scores")
    found = filled(Run.resume(run.folder, "mt", CONFIG), made)
    assert made == [f"{table} {name}" for table in ("variants", "scores") for name in NAMES]
    assert found["scores"].collect()["part"].to_list() == ["0", "0", "1", "1", "2", "2"]
    run.finish(measures_frame([]))
    assert not (run.folder / ".parts").exists()


def test_parts_survive_a_kill_between_joining_two_tables(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    joined, made = Parts.join, []

    def killed(self: Parts, names: list[str]) -> None:
        if self.table == "scores":
            raise KeyboardInterrupt
        joined(self, names)

    monkeypatch.setattr(Parts, "join", killed)
    with pytest.raises(KeyboardInterrupt):
        filled(run, made)
    monkeypatch.setattr(Parts, "join", joined)
    found = filled(run, made)
    assert len(made) == 6
    assert [found[name].collect().height for name in ("variants", "scores")] == [6, 6]


KILLED = """
import os, signal, sys
import polars as pl
from babelquake.files import disk
from babelquake.runs.run import Run

run = Run.resume(sys.argv[1], "mt", {"seed": 1})

def make(number):
    if number == 2 and len(sys.argv) > 2:
        os.kill(os.getpid(), signal.SIGKILL)
    with open(sys.argv[1] + ".made", "a") as log:
        print(number, file=log)
    return pl.DataFrame({"block": [number] * 1000})

with run.alone():
    for number in range(4):
        if not run.parts("variants").has(str(number)):
            run.parts("variants").store(str(number), make(number))
    run.join(variants=["0", "1", "2", "3"])
"""


def test_kill_9_in_the_middle_of_blocks_loses_no_finished_block(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED]
    killed = subprocess.run([*command, str(tmp_path / "run"), "die"], check=False)
    assert killed.returncode == -signal.SIGKILL
    for folder in ("run", "undisturbed"):
        subprocess.run([*command, str(tmp_path / folder)], check=True)
    assert (tmp_path / "run.made").read_text().split() == ["0", "1", "2", "3"]
    ended, undisturbed = (tmp_path / folder / "variants.parquet" for folder in ("run", "undisturbed"))
    assert ended.read_bytes() == undisturbed.read_bytes()


def test_a_full_disk_ends_the_run_so_that_it_can_go_on(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(pl.DataFrame, "write_parquet", full)
        with pytest.raises(ResumableError, match="the disk is full: finished work is kept"):
            run.once("segments", lambda: TABLE)
        patch.setattr(Path, "write_text", full)
        with pytest.raises(ResumableError, match="the disk is full"):
            run.save()
    assert run.once("segments", lambda: TABLE).equals(TABLE)
    assert json.loads((run.folder / "run.json").read_text())["study"] == "mt"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "write",
    [
        lambda: TABLE.write_parquet("/dev/full"),
        lambda: TABLE.write_csv("/dev/full"),
        lambda: TABLE.lazy().sink_parquet("/dev/full"),
        lambda: Path("/dev/full").write_text("x" * 100_000),
    ],
)
def test_a_disk_that_is_really_full_is_recognised(write: Callable[[], object], tmp_path: Path) -> None:
    """polars reports it in an error of its own kind, for Parquet and CSV alike."""
    with pytest.raises(ResumableError, match="the disk is full"), disk(tmp_path):
        write()


def test_a_finished_run_has_its_measures_twice(run: Run) -> None:
    rows = [Measure(Kind("robust"), 94.0, n=3, study="mt"), Measure(Kind("p"), float("nan"))]
    run.finish(measures_frame(rows))
    header, *lines = (run.folder / "measures.csv").read_text().splitlines()
    assert header == ",".join(COLUMNS)
    assert [line.rstrip(",") for line in lines] == ["mt,,,,,,robust,94.000000,,,,,,3", ",,,,,,p"]
    assert Run.open(run.folder).info.finished
    assert run.measures.columns == list(COLUMNS)


def test_measures_are_numbers_or_nothing_and_have_known_columns() -> None:
    some = [Measure(Kind("robust"), value) for value in (float("inf"), 2.0)]
    assert measures_frame(some)["value"].to_list() == [None, 2.0]
    assert measures_frame([]).columns == list(COLUMNS)


MADE = {"data": ["a.tsv#11"], "seed": 0, "suite": "everyday", "limit": None}


@pytest.mark.parametrize(
    ("now", "words"),
    [
        ({}, ""),
        ({"seed": 7}, "was made with --seed 0; this command says --seed 7"),
        ({"limit": 5}, "was made with no --limit; this command says --limit 5"),
        ({"data": ["b.tsv#22"]}, "was made with --data a.tsv#11; this command says --data b.tsv#22"),
        ({"data": ["a.tsv#22"]}, "was made with other segments of a.tsv: the data have changed, or the options that "),
        ({"by": ["x" * 80]}, "was made with no --by; this command says --by " + "x" * 59 + "…"),
    ],
)
def test_the_first_difference_is_said(now: dict[str, object], words: str) -> None:
    with read_at_terminal():
        said = differing(MADE, MADE | now)
    assert said.startswith(words) and bool(said) == bool(words)


def test_an_option_that_is_gone_is_a_difference() -> None:
    assert differing(MADE | {"by": "year"}, MADE) == "was made with by='year'; this command says no by"
