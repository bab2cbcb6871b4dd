"""Where files are: this user's, and the tables, word lists and wordings beside the code, by the room they belong to."""

import atexit
import shutil
import tempfile
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any


def user_cache() -> Path:
    """The folder for what can be computed again: `$XDG_CACHE_HOME/babelquake`, or as the system has it."""
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("babelquake", appauthor=False))


def temporary_folder() -> Path:
    """A new folder that goes when the program ends."""
    made = Path(tempfile.mkdtemp(prefix="babelquake-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def install_line(extra: str) -> str:
    """The command that installs an extra: of the package from an index, or of the checkout that is running."""
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / "pyproject.toml").is_file() and (checkout / "src" / "babelquake").is_dir():
        return f"pip install -e '{checkout}[{extra}]'"
    return f"pip install 'babelquake[{extra}]'"


def text_of_room(room: str, name: str) -> str:
    """A text file of a room, such as `lexicon/ocr.tsv` of `perturb`."""
    return files("babelquake").joinpath(room, name).read_text("utf-8")


def rows_of_room(room: str, name: str) -> list[list[str]]:
    """The rows of a TSV file of a room; lines that begin with # are comments."""
    lines = text_of_room(room, name).splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def lines_of_room(room: str, name: str) -> list[str]:
    """The lines of a text file of a room; none where there is no such file."""
    return text_of_room(room, name).splitlines() if files("babelquake").joinpath(room, name).is_file() else []


@cache
def table_of_room(room: str, name: str) -> Any:
    """What the YAML file of that name says. It is read once, so nobody may change it."""
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text_of_room(room, f"{name}.yaml")).get_single_data()


@cache
def tables_in(room: str, folder: str) -> tuple[str, ...]:
    """The names of the YAML files in a folder of a room."""
    names = (item.name for item in files("babelquake").joinpath(room, folder).iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml")))
