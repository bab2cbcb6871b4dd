"""Errors are one line and an exit status."""

import errno
import os
import signal

import pytest
import typer

from babelquake.cli.guard import guarded
from babelquake.errors import GateError, ResumableError, UserError
from babelquake.interrupts import listen


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (GateError("ROBUST fell"), 1, "babelquake: ROBUST fell"),
        (UserError("no such thing"), 2, "babelquake: no such thing"),
        (ResumableError("quota"), 3, "babelquake: quota"),
        (KeyboardInterrupt(), 3, "babelquake: interrupted."),
        (PermissionError(errno.EACCES, os.strerror(errno.EACCES), "x.tsv"), 2, "babelquake: x.tsv: Permission denied."),
    ],
)
def test_each_kind_of_error_has_its_status(
    error: BaseException, status: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    @guarded
    def command() -> None:
        raise error

    with pytest.raises(typer.Exit) as caught:
        command()
    assert caught.value.exit_code == status
    assert capsys.readouterr().err == message + "\n"


def test_a_programming_error_is_not_hidden() -> None:
    @guarded
    def command() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        command()


@pytest.mark.parametrize(
    ("options", "promise"),
    [
        ({"out": "run"}, "What is finished is kept"),
        ({"out": "run", "cache": "none"}, "single answers are not"),
        ({"out": None}, "interrupted.\n"),
    ],
)
def test_an_interrupted_command_promises_what_it_keeps(
    options: dict[str, str], promise: str, capsys: pytest.CaptureFixture[str]
) -> None:
    @guarded
    def command(out: str | None, cache: str | None = None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(typer.Exit):
        command(**options)
    said = capsys.readouterr().err
    assert said.endswith(promise) or promise in said.removesuffix("interrupted.\n")


def test_signals_that_a_platform_lacks_are_not_listened_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows knows no SIGHUP."""
    heard: list[int] = []
    monkeypatch.delattr(signal, "SIGHUP")
    monkeypatch.setattr(signal, "signal", lambda number, handler: heard.append(number))
    listen()
    assert heard == [signal.SIGINT, signal.SIGTERM]
