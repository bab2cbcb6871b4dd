"""Data files beside the code: tables, word lists and wordings, by the room that they belong to."""

from functools import cache
from importlib.resources import files
from typing import Any


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
