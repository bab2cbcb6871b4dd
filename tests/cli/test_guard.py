"""Errors are one line and an exit status."""

import errno
import os

import pytest
import typer

from babelquake.cli.guard import guarded
from babelquake.errors import GateError, ResumableError, UserError


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (GateError("ROBUST fell"), 1, "babelquake: ROBUST fell"),
        (UserError("no such thing"), 2, "babelquake: no such thing"),
        (ResumableError("quota"), 3, "babelquake: quota"),
        (KeyboardInterrupt(), 3, "babelquake: interrupted. What is finished is kept: the same command continues."),
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
