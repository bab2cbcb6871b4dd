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


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("train", "annotate")])
def test_every_commands_help_has_an_example(cli: Callable[..., Result], name: str) -> None:
    assert f"Example: babelquake {name}" in " ".join(cli(name, "-h").stdout.split())


def test_a_wrong_command_or_option(cli: Callable[..., Result]) -> None:
    assert "No such command 'frobnicate'" in cli("frobnicate", status=2).stderr
    assert "--seed" in cli("mt", "--sead", "1", status=2).stderr
