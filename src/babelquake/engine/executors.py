"""Executors by name: `local`, or `ray[address=auto,actors=8,gpus=1]`."""

from typing import Any

from babelquake.engine.executor import Workers
from babelquake.registry import Registry
from babelquake.spec import bind, parameters, parse

EXECUTORS: Registry[Any] = Registry(
    "executor",
    "babelquake.executors",
    {"local": "babelquake.engine.executor:Local", "ray": "babelquake.engine.ray_executor:Ray"},
)


def workers(what: str | Workers | None) -> Workers | None:
    """The executor of that name; None is this machine, with as many calls at a time as each resource takes."""
    if not isinstance(what, str):
        return what
    spec = parse(what)
    kind = EXECUTORS.get(spec.name)
    if spec.name == "local" and not spec.options:
        return None
    made: Workers = kind(**bind(spec, parameters(kind), "executor"))
    return made
