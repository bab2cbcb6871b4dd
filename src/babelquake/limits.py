"""How much of a foreign file is read: one policy, one message, one way to raise it.

Whoever reads what others have written asks here how much may come, and opens it through `reading`, so that whatever a
library trips over is reported as the file's fault and not as ours. `BABELQUAKE_LIMITS=line=1GB,workbook=2GB` raises
limits for those who know that their files are that large.
"""

import json
import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from babelquake.errors import BabelquakeError, UserError, did_you_mean

VARIABLE = "BABELQUAKE_LIMITS"
MB = 2**20
MOST: dict[str, tuple[int, str]] = {
    "file": (64 * 1024 * MB, "bytes of a file, unpacked"),
    "document": (2048 * MB, "bytes of a file that is read as a whole (CSV, JSON, Parquet), unpacked"),
    "values": (2**28, "values of a Parquet table, all columns together"),
    "line": (64 * MB, "bytes of one line"),
    "markup": (1024 * MB, "bytes of a TMX, XLIFF, XML or SGML file, unpacked"),
    "workbook": (256 * MB, "bytes of an .xlsx file, unpacked"),
    "cells": (2**24, "cells of a sheet"),
    "cell": (16 * MB, "bytes of one cell of a CSV file or a sheet"),
    "settings": (4 * MB, "bytes of a YAML file, a suite, a model's description"),
    "prompt": (MB, "bytes of a prompt"),
    "answer": (16 * MB, "bytes of an answer of a web service, unpacked"),
    "record": (64 * MB, "bytes of one line that a program writes"),
    "layers": (1000, "layers of a model"),
    "width": (10**8, "any size in a model's description, such as its vocabulary or its positions"),
}
"""The limits by name: a default, and what it counts."""
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
SIZE = re.compile(r"(\d{1,12})\s*([KMGT]?)B?", re.IGNORECASE)
SAID = 300
"""Characters of a library's own words that a message quotes."""


def most(name: str) -> int:
    """The limit of that name, as `BABELQUAKE_LIMITS` has it or as it stands above."""
    return _raised(os.environ.get(VARIABLE, "")).get(name, MOST[name][0])


def require(name: str, size: int, where: str) -> None:
    """Refuse what is larger than the limit of that name."""
    if size > most(name):
        raise too_much(name, where)


def too_much(name: str, where: str) -> UserError:
    """The one message: where, which limit, and how to raise it."""
    limit = most(name)
    size = f"{limit // MB:,} MB" if "bytes" in MOST[name][1] else f"{limit:,}"
    larger = f"{4 * limit // MB}MB" if "bytes" in MOST[name][1] else str(4 * limit)
    what = MOST[name][1]
    return UserError(
        f"{where} is larger than the limit: {size} ({what}). If that is intended, set {VARIABLE}={name}={larger}."
    )


@contextmanager
def reading(where: object, what: str, hint: str = "", verb: str = "read") -> Iterator[None]:
    """Whatever a library says while it reads a foreign file becomes an error about that file.

    A panic in a library written in Rust is not an Exception, and counts all the same.
    """
    try:
        yield
    except (BabelquakeError, MemoryError):
        raise
    except BaseException as error:
        panic = type(error).__name__ == "PanicException"
        if getattr(error, "errno", None) is not None or not (panic or isinstance(error, Exception)):
            raise
        said = (str(error).strip() or type(error).__name__).splitlines()[0]
        said = "it is nested too deeply" if isinstance(error, RecursionError) else said
        raise UserError(f"{where} cannot be {verb} as {what}: {said[:SAID].rstrip(' :.')}.{hint}") from None


def text_of(path: str | Path, name: str = "settings") -> str:
    """The text of a small file: no device, no more than the limit of that name, UTF-8."""
    found = Path(path)
    if found.exists() and not found.is_file():
        raise UserError(f"{path} is not a file.")
    with found.open("rb") as stream:
        content = stream.read(most(name) + 1)
    require(name, len(content), str(path))
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text (byte {error.start + 1}).") from None


def yaml_of(text: str, where: str) -> Any:
    """What a YAML text says."""
    import yaml

    with reading(where, "YAML"):
        return yaml.safe_load(text)


def json_of(text: str, where: object) -> Any:
    """What JSON says; text in it that no file could hold is refused."""
    with reading(where, "JSON"):
        found = json.loads(text)
        if HALVES.search(text):
            json.dumps(found, ensure_ascii=False).encode("utf-8")
    return found


def json_object(path: Path, limit: str = "settings") -> dict[str, Any]:
    """The object that a small file of JSON holds."""
    found = json_of(text_of(path, limit), path)
    if not isinstance(found, dict):
        raise UserError(f"{path} is not a JSON object.")
    return found


def model_description(path: Path) -> dict[str, Any]:
    """A model's config.json, whose sizes are such that a model can be built from it."""
    found = json_object(path)
    _require_sizes(found, str(path))
    return found


HALVES = re.compile(r"\\u[dD][89a-fA-F]")
"""How JSON writes half of a character beyond the basic plane; without its other half it is none."""


def _require_sizes(config: dict[str, Any], where: str) -> None:
    for key, value in config.items():
        if isinstance(value, dict):
            _require_sizes(value, where)
        if not (SIZES.match(key) and not isinstance(value, list | dict | None)):
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise UserError(f"{where}: {key} is {value!r}, expected a number.")
        require("layers" if "layers" in key else "width", int(value), f"{where}: {key}")
        if value <= 0 and POSITIVE.search(key) and key != "type_vocab_size":  # DeBERTa has none
            raise UserError(f"{where}: {key} is {value!r}, expected a number above 0.")


SIZES = re.compile(
    r"(num_\w*layers|num_\w*heads|\w*_layers|\w*_heads|hidden_size|vocab_size|intermediate_size|d_model|d_ff|d_kv|"
    r"\w*_ffn_dim|max_position_embeddings|n_embd|n_layer|n_head|type_vocab_size)\Z"
)
POSITIVE = re.compile(r"heads|hidden_size|d_model|vocab_size$|n_embd|n_head")


@cache
def _raised(given: str) -> dict[str, int]:
    limits: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in given.split(","))):
        name, _, size = part.partition("=")
        if name not in MOST:
            raise UserError(f"{VARIABLE}: no limit is called '{name}'. {did_you_mean(name, MOST)}")
        if not (match := SIZE.fullmatch(size.strip())):
            raise UserError(f"{VARIABLE}: {part}: expected a size such as 500MB or 2GB.")
        limits[name] = int(match[1]) * UNITS[match[2].upper()]
    return limits
