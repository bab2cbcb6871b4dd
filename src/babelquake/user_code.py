"""Code of the user's own, named `module:name` as entry points are written: functions and classes outside babelquake."""

import hashlib
import importlib
import inspect
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType
from typing import Any

from babelquake.errors import BabelquakeError, UserError

PLACE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
"""`module:function`, as entry points are written."""
LONGEST = 300
"""Characters of somebody's own error message that are shown."""


def at(place: str) -> Any:
    """The function or class at `module:name`; modules in the working folder are found too."""
    module, _, name = place.partition(":")
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found: Any = importlib.import_module(module)
    except Exception as error:
        meant = f". Name a module, not a file: {module.removesuffix('.py')}:{name}." if module.endswith(".py") else ""
        raise UserError(f"'{place}' cannot be loaded: {type(error).__name__}: {error}{meant}") from error
    for part in name.split("."):
        if not hasattr(found, part):
            raise UserError(f"'{place}' cannot be loaded: {module} has no '{name}'.")
        found = getattr(found, part)
    if not callable(found):
        raise UserError(f"'{place}' is neither a function nor a class.")
    return found


def name_of(thing: Any) -> str:
    """What tables call a function, a lambda or an object: its own name, its class, or where the function is."""
    if not hasattr(thing, "__qualname__"):
        own = getattr(thing, "name", None)
        return own if isinstance(own, str) and own else type(thing).__qualname__
    if thing.__name__ == "<lambda>":
        return f"lambda-{source_of(thing) or ''}"[:11]
    place = place_of(thing)
    return str(thing.__name__) if place.startswith("__main__:") else place


def place_of(thing: Any) -> str:
    """`module:name` of a function or a class, or of an object's class; methods such as `str.upper` are Python's own."""
    kind = thing if hasattr(thing, "__qualname__") else type(thing)
    return f"{getattr(kind, '__module__', None) or 'builtins'}:{kind.__qualname__}"


def source_of(thing: Any) -> str | None:
    """A hash of the file that a function or class is written in; None where nothing is known of it.

    A function without its own name, or without a file, as in a notebook, is known by its code and what it closes
    over: two of them in one file differ.
    """
    state = hashlib.blake2b(digest_size=6)
    try:
        file = inspect.getsourcefile(thing)
        content = Path(str(file)).read_bytes() if file else None
    except (TypeError, OSError):
        content = None
    state.update(content or b"")
    code = getattr(thing, "__code__", None)
    if code is not None and (content is None or "<" in thing.__qualname__):
        cells = [repr(cell.cell_contents) for cell in getattr(thing, "__closure__", None) or ()]
        state.update(repr((_written(code), thing.__defaults__, cells)).encode())
    return None if content is None and code is None else state.hexdigest()


def _written(code: CodeType) -> tuple[Any, ...]:
    """What a function does, without where it stands."""
    inside = [_written(const) if isinstance(const, CodeType) else repr(const) for const in code.co_consts]
    return code.co_code, code.co_names, inside


@contextmanager
def user_errors(name: str, advice: str = "") -> Iterator[None]:
    """Errors in the user's own code, as such: what happened and where; `advice` is for code surprised by a list."""
    try:
        yield
    except (BabelquakeError, MemoryError, KeyboardInterrupt):
        raise
    except (Exception, SystemExit) as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name} line {place.lineno}"
        said = " ".join(str(error).split())
        said = said if len(said) <= LONGEST else said[: LONGEST - 1] + "…"
        hint = f" {advice}" if advice and "list" in said else ""
        raise UserError(f"{name} failed: {type(error).__name__}: {said} ({where}).{hint}") from error
