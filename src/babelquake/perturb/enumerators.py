"""Enumerators: everything that a word could be changed into, one change at a time, in a fixed order.

Perturbations draw from these at random; searched attacks walk through them. Each yields whole words of the same casing,
never the word itself.
"""

from collections.abc import Callable, Iterator

from babelquake.languages import Language
from babelquake.perturb.keyboards import keyboard
from babelquake.perturb.lookalikes import homoglyphs, lookalikes
from babelquake.perturb.phonetics import LANGUAGES, respellings
from babelquake.perturb.spelling import known_typos
from babelquake.perturb.wordnet import antonyms, synonyms
from babelquake.text import graphemes, main_script, match_case

Enumerator = Callable[[str, Language | None], Iterator[str]]
"""Of a word and its language: the words that one change makes of it."""


def keyboard_neighbours(word: str, lang: Language | None = None) -> Iterator[str]:
    """One letter replaced by the key beside it (`keyboard-typo`)."""
    board = keyboard(lang, "Latin" if word.isascii() else main_script(word))
    return _letters(word, board.typos if board else {})


def alike(word: str, lang: Language | None = None) -> Iterator[str]:
    """One letter replaced by a look-alike, nearest first (`visual`)."""
    return _letters(word, lookalikes())


def twins(word: str, lang: Language | None = None) -> Iterator[str]:
    """One letter replaced by its twin in another script (`homoglyph`)."""
    return _letters(word, homoglyphs())


def sounding_alike(word: str, lang: Language | None = None) -> Iterator[str]:
    """One spot spelled otherwise so that it sounds the same (`phonetic`)."""
    code, lower = lang.code if lang else "en", word.lower()
    if code in LANGUAGES:
        for start, end, choices in respellings(lower, code):
            yield from (match_case(lower[:start] + new + lower[end:], word) for new in choices)


def real_typos(word: str, lang: Language | None = None) -> Iterator[str]:
    """Misspellings that real writers made (`natural-typo`)."""
    known = known_typos(lang)
    yield from known.get(word) or (match_case(typo, word) for typo in known.get(word.lower(), ()))


def same_meaning(word: str, lang: Language | None = None) -> Iterator[str]:
    """English synonyms in the same form, the most frequent sense first."""
    if lang is None or lang.code == "en":
        yield from (match_case(other, word) for other in synonyms(word))


def opposite_meaning(word: str, lang: Language | None = None) -> Iterator[str]:
    """English antonyms in the same form (`antonym`)."""
    if lang is None or lang.code == "en":
        yield from (match_case(other, word) for other in antonyms(word))


ENUMERATORS: dict[str, Enumerator] = {
    "keyboard": keyboard_neighbours,
    "visual": alike,
    "homoglyph": twins,
    "phonetic": sounding_alike,
    "natural-typo": real_typos,
    "synonym": same_meaning,
    "antonym": opposite_meaning,
}


def _letters(word: str, near: dict[str, str]) -> Iterator[str]:
    units = graphemes(word)
    for place, unit in enumerate(units):
        for other in near.get(unit, ""):
            yield "".join([*units[:place], other, *units[place + 1 :]])
