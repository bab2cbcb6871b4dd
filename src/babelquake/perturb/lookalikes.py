"""Letters that look alike: neighbours for `visual`, twins from other scripts for `homoglyph`.

Both tables are made by `scripts/make_lookalikes.py`: one line per letter, its look-alikes after a tab, nearest first.
"""

from functools import cache

from babelquake.paths import rows_of_room


@cache
def lookalikes() -> dict[str, str]:
    """For each letter, up to twenty of the same base letter with marks, in other styles or the other case."""
    return {row[0]: row[1] for row in rows_of_room("perturb", "lexicon/lookalikes.tsv")}


@cache
def homoglyphs() -> dict[str, str]:
    """For each letter, those of other scripts that are drawn the same way: Latin `a`, Cyrillic `а`."""
    return {row[0]: row[1] for row in rows_of_room("perturb", "lexicon/homoglyphs.tsv")}
