"""What a release says of itself, in every place that says it."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from babelquake.version import DATE, VERSION

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_version_and_date_are_the_same_everywhere() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert (str(citation["version"]), str(citation["date-released"])) == (VERSION, DATE)
    assert f"## {VERSION} – {DATE}" in (ROOT / "CHANGELOG.md").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "babelquake.version.VERSION"}


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / "action.yml", ROOT / "docs" / "ci.md"], ids=lambda path: path.name)
def test_actions_of_others_are_pinned_by_commit(path: Path) -> None:
    used = re.findall(r"uses: ([\w./-]+)@(\S+)", path.read_text("utf-8"))
    assert used
    loose = [f"{name}@{what}" for name, what in used if not re.fullmatch(r"[0-9a-f]{40}|COMMIT", what)]
    assert not loose


def test_the_tests_run_on_three_systems_and_three_pythons() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text("utf-8"))
    matrix = workflow["jobs"]["quick"]["strategy"]["matrix"]
    assert len(matrix["os"]) == len(matrix["python"]) == 3
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}


def test_a_release_is_published_without_a_token() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8"))
    assert workflow["jobs"]["publish"]["permissions"] == {"id-token": "write"}
    assert "secrets." not in (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")


def test_what_an_action_is_given_can_never_be_an_option() -> None:
    """`baseline: --help` printed the help, with status 0, and the gate was open."""
    steps = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]
    commands = "\n".join(step.get("run", "") for step in steps)
    (compare,) = [line for line in commands.splitlines() if "babelquake compare" in line]
    assert re.search(r'"\$\{options\[@\]\}" -- "\$BASELINE" "\$OUT"', compare)
    (shake,) = [line for line in commands.splitlines() if "babelquake mt" in line]
    assert not re.search(r'--\w+ "\$', shake), "values are joined to their options"
    assert "--require-hashes" in commands and "requirements-core.lock" in commands


def test_a_path_like_an_option_is_a_path_after_two_hyphens() -> None:
    from typer.testing import CliRunner

    from babelquake.cli.app import app

    done = CliRunner().invoke(app, ["compare", "--fail-on", "regression", "--", "--help", "runs/new"])
    assert done.exit_code == 2 and "--help" in done.stderr
