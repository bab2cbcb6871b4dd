"""Errors become one line and an exit status: 1 a gate said no, 2 wrong input, 3 interrupted but resumable."""

import errno
import functools
import os
import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import typer

from babelquake.errors import BabelquakeError

P = ParamSpec("P")
R = TypeVar("R")


def _discard_output() -> None:
    """Nobody takes what is still to be written: do not try again as the program ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def guarded(command: Callable[P, R]) -> Callable[P, R]:
    """A command that reports errors the way the command line promises."""

    @functools.wraps(command)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except BabelquakeError as error:
            typer.echo(f"babelquake: {error}", err=True)
            raise typer.Exit(error.exit_status) from error
        except KeyboardInterrupt:
            typer.echo("babelquake: interrupted. Finished work is kept: the same command continues.", err=True)
            raise typer.Exit(3) from None
        except BrokenPipeError:
            _discard_output()
            raise typer.Exit(0) from None
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            if full:
                _discard_output()
            where = f"{error.filename}: " if error.filename else ""
            typer.echo(f"babelquake: {where}{error.strerror or error}.", err=True)
            raise typer.Exit(3 if full else 2) from error

    return call
