"""Where a word can be spelled otherwise and still sound the same, from the tables `scripts/make_phonetics.py` made.

A row says: these letters, between this left and this right context (one letter, two, or the rest of
the word; `^` and `$` are its ends), may be written in these other ways.
"""

from functools import cache, lru_cache

from babelquake.paths import rows_of_room

LANGUAGES = ("en", "de", "fr")
LONGEST = 4
"""Letters in the longest sequence a table replaces."""

Spot = tuple[int, int, tuple[str, ...]]


@cache
def _table(lang: str) -> dict[tuple[str, str, str], tuple[str, ...]]:
    return {
        (left, letters, right): tuple(new.replace("_", "") for new in news.split(" "))
        for left, letters, right, news in rows_of_room("perturb", f"lexicon/phonetics/{lang}.tsv")
    }


@lru_cache(maxsize=65536)
def respellings(word: str, lang: str) -> tuple[Spot, ...]:
    """The spots of a lower-case word that can be respelled: start, end and the choices, in order of start."""
    table = _table(lang)
    framed = f"^^{word}$$"
    spots = []
    for start in range(len(word)):
        for end in range(start + 1, min(start + LONGEST, len(word)) + 1):
            letters = word[start:end]
            choices = (
                *table.get((f"^{word[:start]}", letters, f"{word[end:]}$"), ()),
                *table.get((framed[start + 1], letters, framed[end + 2]), ()),
                *table.get((framed[start : start + 2], letters, framed[end + 2 : end + 4]), ()),
            )
            if choices:
                spots.append((start, end, tuple(dict.fromkeys(choices))))
    return tuple(spots)
