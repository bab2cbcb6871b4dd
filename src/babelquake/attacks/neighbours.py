"""Word neighbours by name: those that ship (`neighbours-en`), or a file.

A file has one word per line and its neighbours after it, nearest first, parted by tabs or spaces; `.gz` and `.xz` are
understood. `babelquake neighbours build` makes one from word vectors and synonym and antonym constraints.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from babelquake.data.streams import lines
from babelquake.errors import UserError
from babelquake.models.shipped import folder, shipped

FILE = "neighbours.tsv"


def neighbours(name: str) -> Mapping[str, Sequence[str]]:
    """Lower-case words and their neighbours, nearest first."""
    file = place(name)
    found: dict[str, Sequence[str]] = {}
    for line in lines(file):
        if entry := line.split():
            found[entry[0].lower()] = tuple(entry[1:])
    if not found:
        raise UserError(f"{name} holds no words: expected lines of a word and its neighbours.")
    return found


def neighbours_signature(name: str) -> str:
    """Name and content."""
    return f"{Path(name).name}-{hashlib.blake2b(place(name).read_bytes(), digest_size=6).hexdigest()}"


def place(name: str) -> Path:
    """The file behind a name."""
    if Path(name).is_file():
        return Path(name)
    if name in shipped():
        files = sorted(folder(name).glob(f"{FILE}*"))
        if files:
            return files[0]
    raise UserError(
        f"no word neighbours are called '{name}'. Name a file with a word and its neighbours per line, "
        "or neighbours-en, which ships with babelquake-models."
    )
