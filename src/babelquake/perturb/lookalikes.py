"""Letters that look alike: neighbours for `visual`, twins from other scripts for `homoglyph`.

Both tables are made by `scripts/make_lookalikes.py`: one line per letter, its look-alikes after a tab, nearest first.
"""

from functools import cache
from importlib.resources import files


def _table(name: str) -> dict[str, str]:
    text = files("babelquake.perturb").joinpath(f"lexicon/{name}").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines() if line and not line.startswith("#"))
    return {row[0]: row[1] for row in rows}


@cache
def lookalikes() -> dict[str, str]:
    """For each letter, up to twenty of the same base letter with marks, in other styles or the other case."""
    return _table("lookalikes.tsv")


@cache
def homoglyphs() -> dict[str, str]:
    """For each letter, those of other scripts that are drawn the same way: Latin `a`, Cyrillic `а`."""
    return _table("homoglyphs.tsv")
