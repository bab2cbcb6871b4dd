"""Help, version and wrong commands."""

from collections.abc import Callable

import pytest
import typer
from typer.testing import Result

from babelquake.cli.app import app
from babelquake.version import VERSION

COMMANDS = sorted(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


def test_the_version(cli: Callable[..., Result]) -> None:
    assert cli("--version").stdout == f"babelquake {VERSION}\n"


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_names_every_command(cli: Callable[..., Result], flag: str) -> None:
    shown = cli(flag).stdout
    assert all(name in shown for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_commands_help_has_an_example(cli: Callable[..., Result], name: str) -> None:
    assert f"Example: babelquake {name}" in " ".join(cli(name, "-h").stdout.split())


def test_a_wrong_command_or_option(cli: Callable[..., Result]) -> None:
    assert "No such command 'frobnicate'" in cli("frobnicate", status=2).stderr
    assert "--seed" in cli("mt", "--sead", "1", status=2).stderr


ASKING = ("demo", "perturb", "mt", "metric", "qe", "attack", "correlate", "similarities", "reproduce", "rerun")
"""Commands that may ask a model."""


@pytest.mark.parametrize("name", ASKING)
def test_where_models_run_can_be_said_everywhere(name: str) -> None:
    known = {flag for option in typer.main.get_command(app).commands[name].params for flag in option.opts}  # type: ignore[attr-defined]
    assert known >= {"--executor", "--device", "--offline"}
