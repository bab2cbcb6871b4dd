"""Keyboard layouts as data, and which keys lie side by side.

A layout file (`lexicon/keyboards/*.yaml`) gives the rows of keys as printed, unshifted, and where each row starts in
key widths. Two keys are neighbours when their centres are at most `REACH` key widths apart: the keys left and right,
and the two above and the two below that they touch.
"""

import string
from functools import cache, lru_cache
from typing import Literal, NamedTuple

from babelquake.languages import Language
from babelquake.paths import table_of_room, tables_in
from babelquake.text import main_script

Choice = Literal["own", "qwerty"]
"""The language's own layout, or QWERTY for all as Niu 2020 §3 has it."""
REACH = 1.3
DEFAULTS = {"Latin": "en", "Cyrillic": "ru"}
"""The language whose keyboard types a script when the language itself has none on file."""


class Keyboard(NamedTuple):
    """One layout: its letters in key order, and for each key those beside it."""

    name: str
    letters: str
    neighbours: dict[str, str]
    """Every neighbouring key, digits and punctuation included; capitals have capital letters beside them."""
    letter_neighbours: dict[str, str]
    """Neighbours that are letters, for keys that are letters."""
    typos: dict[str, str]
    """What is hit instead of a letter: letters only for a capital, any neighbour for the rest."""
    types_ascii: bool
    """Whether every ASCII letter has a key with a letter beside it."""


def layout(name: str, rows: list[str], starts: list[float]) -> Keyboard:
    """Compute neighbours from the geometry of the rows."""
    keys = [
        (start + column, depth, key)
        for depth, (row, start) in enumerate(zip(rows, starts, strict=True))
        for column, key in enumerate(row)
    ]
    near: dict[str, str] = {}
    for x, y, key in keys:
        beside = [(a - x, b - y, other) for a, b, other in keys if other != key]
        near[key] = "".join(other for dx, dy, other in beside if dx * dx + dy * dy <= REACH * REACH)
    for key in [key for key in near if key.isalpha() and len(key.upper()) == 1]:
        near.setdefault(key.upper(), "".join(one.upper() if len(one.upper()) == 1 else one for one in near[key]))
    only_letters = {key: "".join(filter(str.isalpha, others)) for key, others in near.items() if key.isalpha()}
    letters = "".join(key for _, _, key in keys if key.isalpha())
    reachable = {key: others for key, others in only_letters.items() if others}
    typos = {key: others if key.isupper() else near[key] for key, others in reachable.items()}
    return Keyboard(name, letters, near, reachable, typos, reachable.keys() >= set(string.ascii_letters))


@cache
def layouts() -> dict[str, Keyboard]:
    """Every layout that ships, by language code."""
    by_language: dict[str, Keyboard] = {}
    for name in tables_in("perturb", "lexicon/keyboards"):
        data = table_of_room("perturb", f"lexicon/keyboards/{name}")
        board = layout(data["name"], data["rows"], data["starts"])
        by_language |= dict.fromkeys(data["languages"], board)
    return by_language


@lru_cache(maxsize=256)
def keyboard(lang: Language | None, script: str, choice: Choice = "own") -> Keyboard | None:
    """The keyboard of a language, else the usual one of its script, else None (Arabic, Greek … without a layout).

    `qwerty` is the English layout whatever the language, for letters that it has.
    """
    boards = layouts()
    if choice == "qwerty":
        return boards["en"] if script in ("", "Latin") else None
    board = boards.get(lang.code if lang else "")
    if board and script in ("", main_script(board.letters)):
        return board
    return boards.get(DEFAULTS.get(script, ""))
