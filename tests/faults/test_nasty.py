"""Every nasty file gets a sentence and status 2, never a traceback, a hang or a gigabyte."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from babelquake.cli.app import app

CORPUS = Path(__file__).parent.parent / "nasty"
DATA = sorted(path.name for path in CORPUS.iterdir() if path.suffix not in (".md", ".yaml"))
SCREEN = 80 * 25


@pytest.mark.parametrize("name", DATA)
def test_data_that_are_none(name: str, tmp_path: Path) -> None:
    words = ["metric", "-m", "chrf", "-d", str(CORPUS / name), "--side", "reference", "-p", "case", "--cache", "none"]
    done = CliRunner().invoke(app, [*words, "-o", str(tmp_path / "run")])
    assert isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == 2, done.output
    assert 0 < len(done.stderr) < SCREEN
    assert "root:" not in done.output


@pytest.mark.parametrize("name", ["aliases.yaml", "cycle.yaml"])
@pytest.mark.parametrize("option", ["--config", "--suite"])
def test_yaml_without_end(name: str, option: str, tmp_path: Path) -> None:
    (tmp_path / "d.de-en.tsv").write_text("source\treference\na b\tc d\n")
    words = ["mt", "-s", "command[cmd=cat]", "-d", "d.de-en.tsv", option, str(CORPUS / name), "-o", "run"]
    done = subprocess.run(
        [sys.executable, "-m", "babelquake", *words],
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (40, 40)),
    )
    assert done.returncode == 2, done.stderr
    assert len(done.stderr) < SCREEN


@pytest.mark.parametrize("name", ["truncated.parquet", "binary.de-en.tsv", "not-zip.xlsx", "deep.json"])
def test_scores_that_are_none(name: str, tmp_path: Path) -> None:
    (tmp_path / "d.de-en.tsv").write_text("source\treference\na b\tc d\n")
    words = ["mt", "-s", "command[cmd=cat]", "-d", str(tmp_path / "d.de-en.tsv"), "-p", "case", "--cache", "none"]
    done = CliRunner().invoke(app, [*words, "-m", f"scores[file={CORPUS / name}]", "-o", str(tmp_path / "run")])
    assert isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == 2, done.output


@pytest.mark.parametrize(
    "words",
    [
        ["report", "{nasty}"],
        ["compare", "{nasty}", "{nasty}"],
        ["perturb", "case", "{nasty}/no-such-file"],
        ["mt", "-s", "command[cmd=cat]", "-d", "/dev/zero", "-o", "run"],
        ["mt", "-s", "command[cmd=cat]", "-d", "{nasty}/half.jsonl", "--replicates", "99999999999", "-o", "run"],
        ["list", "runs", "{nasty}/no-such-folder"],
        ["rerun", "{nasty}"],
    ],
)
def test_commands_on_nothing(words: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "babelquake", *(word.format(nasty=CORPUS) for word in words)],
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
        env={**os.environ, "BABELQUAKE_CACHE": str(tmp_path / "c.sqlite")},
    )
    assert done.returncode == 2, done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("surroundings", [{"HOME": None}, {"HOME": "/proc"}])
def test_a_home_that_is_none(surroundings: dict[str, str | None], tmp_path: Path) -> None:
    left_out = ("HOME", "XDG_CACHE_HOME", "BABELQUAKE_CACHE")
    env = {name: value for name, value in os.environ.items() if name not in left_out}
    env |= {name: value for name, value in surroundings.items() if value is not None}
    (tmp_path / "d.de-en.tsv").write_text("source\treference\na b\tc d\n")
    words = ["mt", "-s", "command[cmd=cat]", "-d", "d.de-en.tsv", "-p", "case", "-m", "chrf", "--resamples", "100"]
    done = subprocess.run(
        [sys.executable, "-m", "babelquake", *words, "-o", "run"],
        cwd=tmp_path,
        capture_output=True,
        timeout=120,
        env=env,
    )
    assert done.returncode in (0, 2), done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="limits on addresses are told by Linux")
@pytest.mark.parametrize("kilobytes", [200_000, 500_000, 1_000_000, 1_500_000])
@pytest.mark.parametrize("words", ["list perturbations", "perturb misspell -", "compare old new --fail-on regression"])
def test_little_memory_is_enough_or_is_said(kilobytes: int, words: str) -> None:
    """OpenBLAS would end the process with status 1, by which a gate says no."""
    done = subprocess.run(
        ["bash", "-c", f"ulimit -v {kilobytes}; {sys.executable} -m babelquake {words}"],
        input=b"one line\n",
        capture_output=True,
        timeout=120,
    )
    enough = kilobytes >= 1_000_000 and "compare" not in words
    assert done.returncode == (0 if enough else 2), done.stderr
    assert enough or b"ulimit -v unlimited" in done.stderr
