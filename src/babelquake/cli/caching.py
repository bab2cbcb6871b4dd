"""`babelquake cache`: look at, check or empty the store of costly results."""

import json
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from babelquake.cli.guard import guarded
from babelquake.cli.options import AsJson, CacheFile, warn
from babelquake.errors import UserError


class Action(StrEnum):
    """What to do with the cache."""

    info = "info"
    clear = "clear"
    verify = "verify"


@guarded
def cache(
    action: Annotated[Action, typer.Argument(help="info, clear or verify.")],
    file: CacheFile = None,
    as_json: AsJson = False,
) -> None:
    """Show, empty or check the cache of translations and scores.

    Example: babelquake cache info
    """
    from babelquake.engine import Cache

    if action is Action.info:
        found = asdict(Cache.look(file))
        typer.echo(json.dumps(found) if as_json else "\n".join(f"{key}: {value}" for key, value in found.items()))
        return
    if not Path(Cache.look(file).path).exists():
        raise UserError(f"there is no cache at {Cache.look(file).path}.")
    store = Cache(file, tell=warn)
    if action is Action.clear:
        removed = store.clear()
        typer.echo(json.dumps({"removed": removed}) if as_json else f"{removed} entries removed")
    else:
        sound, damaged = store.verify()
        typer.echo(
            json.dumps({"sound": sound, "damaged": damaged})
            if as_json
            else f"{sound} entries sound, {damaged} damaged and removed"
        )
