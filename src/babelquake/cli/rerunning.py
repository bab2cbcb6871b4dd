"""`babelquake rerun`: make a run again from its run.json, and compare."""

import json
import shlex
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from babelquake.cli.guard import guarded
from babelquake.cli.options import AsJson, Device, Offline, option, switch

SHOWN = 20
"""Differences that are printed."""


@guarded
def rerun(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder to repeat.")],
    out: Annotated[Path | None, option("--out -o", "PATH", "Run folder for the repetition.")] = None,
    fresh: Annotated[bool, switch("--fresh", "Ask every system and scorer again: use no cache.")] = False,
    executor: Annotated[
        str | None, option("--executor", "EXECUTOR", "Where to run models: local, or ray[address=…].")
    ] = None,
    device: Device = None,
    offline: Offline = False,
    as_json: AsJson = False,
) -> None:
    """Repeat a run and say whether the numbers match and, if not, which version or file differs.

    Example: babelquake rerun runs/everyday
    """
    from babelquake.cli.app import app
    from babelquake.errors import GateError, UserError
    from babelquake.escape import visible
    from babelquake.runs.command import command_line
    from babelquake.runs.run import Run
    from babelquake.studies.compare import differences

    old = Run.open(run)
    if old.info.finished is None:
        raise UserError(f"{run} is not finished: the command that made it continues it: {command_line(old)}")
    with ExitStack() as stack:
        where = out or Path(stack.enter_context(tempfile.TemporaryDirectory())) / old.folder.name
        words = shlex.split(command_line(old))[1:]
        words[words.index("--out") + 1] = str(where)
        known = _options(typer.main.get_command(app), words)
        more = {"--cache": "none" if fresh else None, "--executor": executor}
        words += [
            "--quiet",
            *(part for name, value in more.items() if value and name in known for part in (name, value)),
        ]
        status = app(words, standalone_mode=False)
        if status:
            raise typer.Exit(status)
        found = differences(old, Run.open(where))
    if as_json:
        typer.echo(json.dumps(asdict(found) | {"same": found.same}, ensure_ascii=False))
    else:
        count = "1 measure" if found.measures == 1 else f"{found.measures} measures"
        typer.echo(f"{count} compared: {'all the same' if found.same else 'they differ'}.")
        for line in [*found.causes, *found.numbers[:SHOWN]]:
            typer.echo(f"  {visible(line)}")
        if len(found.numbers) > SHOWN:
            typer.echo(f"  and {len(found.numbers) - SHOWN} more")
    if not found.same:
        raise GateError(f"{len(found.numbers)} numbers of {run} differ when it is repeated.")


def _options(command: Any, words: Sequence[str]) -> set[str]:
    """The options of the command that a line calls; a study that asks no model has neither cache nor executor."""
    for word in words:
        if word not in getattr(command, "commands", {}):
            break
        command = command.commands[word]
    return {name for parameter in command.params for name in parameter.opts}
