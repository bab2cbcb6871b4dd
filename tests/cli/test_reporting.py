"""`babelquake report` and `compare` on a finished run."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from babelquake.cli.app import app

from .conftest import news

Cli = Callable[..., Result]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two programs under letter case."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "news.de-en.tsv").write_text(news())
    words = f"mt -s command[cmd=cat] -d {folder}/news.de-en.tsv -p case -m chrf --resamples 100 -o {folder}/RUN"
    done = CliRunner().invoke(app, [*words.split(), "-s", "command[cmd='tr a-z A-Z']", "--cache", "none"])
    assert done.exit_code == 0, done.output
    return folder / "RUN"


@pytest.fixture
def run(cli: Cli, made: Path, tmp_path: Path) -> str:
    shutil.copytree(made, tmp_path / "RUN")
    return "RUN"


def test_a_report_is_written_into_the_run(cli: Cli, run: str, tmp_path: Path) -> None:
    (tmp_path / "RUN" / "report.html").unlink()
    assert cli("report", run).stdout == "RUN/report.html\n"
    page = (tmp_path / "RUN" / "report.html").read_text("utf-8")
    assert "<h2>Test set</h2>" in page and "How robust" in page


def test_several_runs_share_a_page_elsewhere(cli: Cli, run: str, tmp_path: Path) -> None:
    assert cli("report", run, run, "--html", "new/both.html").stdout == "new/both.html\n"
    assert '<select id="run-select">' in (tmp_path / "new" / "both.html").read_text("utf-8")


def test_markdown_and_latex(cli: Cli, run: str, tmp_path: Path) -> None:
    (tmp_path / "RUN" / "report.html").unlink()
    shown = cli("report", run, "--markdown", "out/run.md", "--latex", "out/run.tex").stdout
    assert shown == "out/run.md\nout/run.tex\n"
    markdown = (tmp_path / "out" / "run.md").read_text("utf-8")
    assert "## Test set" in markdown and "odd capitals" in markdown and "babelquake mt" in markdown
    assert r"\toprule" in (tmp_path / "out" / "run.tex").read_text("utf-8")
    assert not (tmp_path / "RUN" / "report.html").exists()


@pytest.mark.slow
def test_pictures(cli: Cli, run: str, tmp_path: Path) -> None:
    named = cli("report", run, "--png", "pictures").stdout.split()
    assert {Path(name).suffix for name in named} == {".png", ".svg"}
    assert sorted(named) == sorted(f"pictures/{path.name}" for path in (tmp_path / "pictures").iterdir())


def test_what_is_no_finished_run_is_named(cli: Cli, run: str, tmp_path: Path) -> None:
    assert "nowhere is not a run folder" in cli("report", "nowhere", status=2).stderr
    (tmp_path / "RUN" / "measures.parquet").unlink()
    assert "RUN has no measures yet" in cli("report", run, status=2).stderr


def test_the_terminal_shows_the_test_set(cli: Cli, data: str) -> None:
    shown = cli("mt", "-s", "command[cmd=cat]", "-d", data, "-p", "case", "--resamples", "100", "-o", "R").stdout
    assert "Test set" in shown and "blank sources" in shown and "25.0 %" in shown


def test_a_run_compared_with_itself_has_no_regression(cli: Cli, run: str, tmp_path: Path) -> None:
    shown = cli("compare", run, run, "--fail-on", "regression", "--markdown", "pr.md").stdout
    assert "No significant difference" in shown and "WORSE" not in shown
    assert "**No significant difference" in (tmp_path / "pr.md").read_text("utf-8")
    told = json.loads(cli("compare", run, run, "--json").stdout)
    assert told["failures"] == [] and {change["outcome"] for change in told["changes"]} == {"same"}
    assert (
        "--fail-on anything: expected regression." in cli("compare", run, run, "--fail-on", "anything", status=2).stderr
    )


def test_json_stays_json_beside_a_summary(cli: Cli, run: str, tmp_path: Path) -> None:
    assert json.loads(cli("compare", run, run, "--json", "--markdown", "pr.md").stdout)
    assert (tmp_path / "pr.md").exists()


def test_all_is_written_before_anything_is_said(
    cli: Cli, run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that `| head` loses no file."""
    names = ("a.md", "a.tex", "card.md")
    there: list[bool] = []
    monkeypatch.setattr("typer.echo", lambda *_, **__: there.append(all((tmp_path / name).exists() for name in names)))
    cli("report", "RUN", "--markdown", "a.md", "--latex", "a.tex", "--model-card", "card.md")
    assert there == [True] * 3


def test_runs_of_one_name_have_tables_of_their_own(cli: Cli, run: str, tmp_path: Path) -> None:
    shutil.copytree(tmp_path / "RUN", tmp_path / "new" / "RUN")
    cli("report", run, "new/RUN", "--latex", "both.tex", "--markdown", "both.md")
    labels = re.findall(r"\\label\{.*\}", (tmp_path / "both.tex").read_text("utf-8"))
    assert labels and len(set(labels)) == len(labels)
    assert "# new/RUN\n" in (tmp_path / "both.md").read_text("utf-8")
