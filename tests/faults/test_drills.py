"""Drills on whole commands: killed at any moment, on a full disk, side by side, with every table damaged.

However a command was disturbed, the same command ends with the numbers of an undisturbed one.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner, Result

from babelquake.cli.app import app

pytestmark = pytest.mark.slow
WORDS = ["-d", "d.de-en.tsv", "--seed", "3", "-q"]
COMMANDS = {
    "mt": ["mt", "-s", "command[cmd=cat]", "-p", "misspell,case", "-m", "chrf", "--resamples", "200", *WORDS],
    "metric": ["metric", "-p", "misspell,final-delete", "-m", "chrf", "-m", "bleu", "--resamples", "200", *WORDS],
    "qe": ["qe", "-m", "chrf", "--masked-lm", "none", "--resamples", "200", *WORDS],
    "attack": [
        "attack",
        "--recipe",
        "input-reduction",
        "--victim",
        "chrf",
        "--constraint",
        "none",
        "--sample",
        "8",
        *WORDS,
    ],
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data that every study takes, and an undisturbed run of each."""
    folder = tmp_path_factory.mktemp("drills")
    lines = ["source\treference\ttranslation\tsystem\tscore"]
    for number in range(150):
        said = f"Sentence {number} of the {'very ' * (number % 5)}long report was not read by anyone."
        lines.append(
            f"Satz {number} war {'sehr ' * (number % 5)}lang.\t{said}\t{said[:-12]}a man.\ta\t{70 + number % 30}"
        )
    (folder / "d.de-en.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    return folder


def begun(folder: Path, words: list[str], out: Path | str) -> "subprocess.Popen[bytes]":
    env = {**os.environ, "BABELQUAKE_CACHE": f"{out}.sqlite"}
    command = [sys.executable, "-m", "babelquake", *words, "--out", str(out)]
    return subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def said(folder: Path, words: list[str], out: Path | str | None = None, status: int = 0) -> Result:
    """The same in this process, where nothing happens to it."""
    place = ["--out", str(out)] if out else []
    with chdir(folder):
        result = CliRunner().invoke(app, [*words, *place], env={"BABELQUAKE_CACHE": f"{out or folder / 'c'}.sqlite"})
    assert result.exit_code == status, result.output
    return result


def numbers(run: Path) -> pl.DataFrame:
    """What a run found: its measures without what tells runs apart."""
    return pl.read_parquet(run / "measures.parquet").drop("signature")


def undisturbed(folder: Path, study: str) -> pl.DataFrame:
    """The numbers of a run in peace, made once."""
    run = folder / f"{study}-calm"
    if not run.exists():
        said(folder, COMMANDS[study], run)
    return numbers(run)


@pytest.mark.parametrize("study", ["mt", "attack"])
def test_a_command_killed_twice_ends_like_one_in_peace(study: str, place: Path) -> None:
    calm = undisturbed(place, study)
    out = place / f"{study}-killed"
    for least in (1, 3):
        process = begun(place, COMMANDS[study], out)
        while process.poll() is None and (not out.exists() or len(list(out.rglob("*"))) <= least):
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    said(place, COMMANDS[study], out)
    assert numbers(out).equals(calm, null_equal=True)
    assert not [path for path in out.rglob("*") if "writing" in path.name or path.name == ".parts"]


@pytest.mark.parametrize("study", COMMANDS)
def test_one_bit_in_any_table_is_named_and_mended(study: str, place: Path) -> None:
    calm = undisturbed(place, study)
    out = place / f"{study}-flipped"
    shutil.copytree(place / f"{study}-calm", out)
    tables = sorted(path for path in out.glob("*.parquet"))
    assert len(tables) > 2
    chance = random.Random(study)
    for table in tables:
        content = bytearray(table.read_bytes())
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        table.write_bytes(content)
    told = said(place, ["report", str(out), "--markdown", str(out / "r.md")], status=2).stderr
    assert "is damaged" in told and "makes it again" in told
    said(place, COMMANDS[study], out)
    assert numbers(out).equals(calm, null_equal=True)


def test_two_at_once_in_one_folder(place: Path) -> None:
    calm = undisturbed(place, "mt")
    both = [begun(place, COMMANDS["mt"], place / "mt-both") for _ in range(2)]
    told = [process.communicate(timeout=300)[1].decode() for process in both]
    codes = sorted(process.returncode for process in both)
    assert codes in ([0, 0], [0, 2]), told
    if codes == [0, 2]:
        assert any("another process is writing to" in text for text in told), told
    assert numbers(place / "mt-both").equals(calm, null_equal=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 400 KB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", "size=400k", "tmpfs", str(folder)]
    if not shutil.which("mount") or subprocess.run(["mount", *options], capture_output=True).returncode:
        pytest.skip("a small disk can be mounted by root only")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_is_told_and_the_run_goes_on_with_more_room(place: Path, small_disk: Path) -> None:
    study = "mt"
    calm = undisturbed(place, study)
    (small_disk / "filler").write_bytes(b"x" * (380 << 10))
    words = [*COMMANDS[study], "--cache", str(place / f"{study}-full.sqlite")]
    process = begun(place, words, small_disk / "run")
    told = process.communicate(timeout=300)[1].decode()
    assert process.returncode in (2, 3) and ("disk is full" in told or "No space left" in told), told
    (small_disk / "filler").unlink()
    subprocess.run(["mount", "-o", "remount,size=40m", str(small_disk)], check=True)
    said(place, words, small_disk / "run")
    assert numbers(small_disk / "run").equals(calm, null_equal=True)


def test_a_clock_that_jumps_back_changes_no_number(place: Path, tmp_path: Path) -> None:
    calm = undisturbed(place, "metric")
    code = (
        "import time, itertools, sys\n"
        "hours = itertools.count()\n"
        "real = time.time\n"
        "time.time = lambda: real() - 3600 * next(hours)\n"
        "sys.argv[0] = 'babelquake'\n"
        "from babelquake.cli import main; main()"
    )
    command = [sys.executable, "-c", code, *COMMANDS["metric"], "--out", str(tmp_path / "run")]
    env = {**os.environ, "BABELQUAKE_CACHE": str(tmp_path / "c.sqlite")}
    done = subprocess.run(command, cwd=place, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert numbers(tmp_path / "run").equals(calm, null_equal=True)


def test_a_killed_perturb_leaves_the_old_table_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("".join(f"Sentence number {number} is here.\n" for number in range(30_000)))
    old = pl.DataFrame({"old": [1]})
    old.write_parquet(tmp_path / "t.parquet")
    words = ["perturb", "misspell", "--lang", "en", "--table", "t.parquet", "in.txt"]
    said(tmp_path, [*words[:5], "calm.parquet", "in.txt"])
    process = subprocess.Popen([sys.executable, "-m", "babelquake", *words], cwd=tmp_path, stderr=subprocess.DEVNULL)
    while process.poll() is None and len(list(tmp_path.iterdir())) < 4:
        time.sleep(0.002)  # until there is a file beside the old table
    process.kill()
    process.wait()
    left = pl.read_parquet(tmp_path / "t.parquet")
    assert left.equals(old) or left.equals(pl.read_parquet(tmp_path / "calm.parquet"))
    said(tmp_path, words)
    assert pl.read_parquet(tmp_path / "t.parquet").equals(pl.read_parquet(tmp_path / "calm.parquet"))
    assert {path.name for path in tmp_path.iterdir()} == {"in.txt", "t.parquet", "calm.parquet"}


@pytest.mark.parametrize("study", COMMANDS)
def test_a_run_is_repeated_with_the_same_numbers(study: str, place: Path) -> None:
    undisturbed(place, study)
    said(place, ["rerun", f"{study}-calm"])


def test_a_run_whose_data_have_moved_says_what_it_misses(place: Path) -> None:
    undisturbed(place, "metric")
    elsewhere = place / "elsewhere"
    elsewhere.mkdir()
    shutil.copytree(place / "metric-calm", elsewhere / "run")
    assert "d.de-en.tsv" in said(elsewhere, ["rerun", "run"], status=2).stderr
    listed = json.loads(said(place, ["list", "runs", str(place), "--json"]).stdout)
    assert {"metric-calm"} <= {Path(row["name"]).name for row in listed if row["status"] == "finished"}
