"""Changes that give another meaning: the source itself (Kanojia 2021, MAP8), other numbers, names, units and dates."""

import re
import unicodedata

import regex

from babelquake.languages import Language
from babelquake.perturb.card import perturbation
from babelquake.perturb.function_words import LISTED
from babelquake.perturb.linguistics import WordLists, linguistics, named_lists, resource, word_lists
from babelquake.randomness import Stream
from babelquake.text import Span, replaced, words

NUMBER = re.compile(r"\d+(?:[.,:٫٬]\d+)*")
SYMBOL_BEFORE = regex.compile(r"(?P<symbol>[$€£¥])(?=\s?\p{Nd})")
SYMBOL_AFTER = regex.compile(r"(?<=\p{Nd}\s?)(?P<symbol>[$€£¥%°])")
REACH = 2
"""A unit belongs to a number that stands at most this many words before it ('20 million euros')."""


@perturbation(
    "source-copy",
    label="source in place of the translation",
    family="meaning",
    paper="Kanojia 2021 §5.2 MAP8",
    meaning="altering",
    side="translation",
)
def copy_source(text: str, source: str | None) -> str | None:
    """Replace the translation by the source sentence. Skipped where one of them is missing or blank."""
    return source if source and source.strip() and text.strip() else None


@perturbation("number", label="numbers changed", family="meaning", meaning="altering", level=1, unit="numbers", high=20)
def change_number(text: str, level: float, rng: Stream) -> str | None:
    """Change a digit of random numbers: of one by default. Skipped where the text has no number."""
    found = [Span(match.start(), match.end(), match.group()) for match in NUMBER.finditer(text)]
    chosen = [found[place] for place in rng.sample(len(found), max(1, round(level)))]
    edits = [(number.start, number.end, _other_number(number.text, rng)) for number in chosen]
    return replaced(text, edits) if edits else None


@perturbation("name-swap", label="names swapped", family="meaning", meaning="altering", resource=resource)
def swap_names(text: str, rng: Stream, lang: Language | None) -> str | None:
    """Let two names of the sentence change places.

    Skipped where the text has fewer than two different names. Without a tagger, names are told by capital letters, so
    scripts without case have none; in German only names of several words and acronyms count.
    """
    found = linguistics(lang).names(text)
    pairs = [
        (first, second)
        for place, first in enumerate(found)
        for second in found[place + 1 :]
        if first.text != second.text and first.end <= second.start
    ]
    if not pairs:
        return None
    first, second = rng.choice(pairs)
    return replaced(text, [(first.start, first.end, second.text), (second.start, second.end, first.text)])


@perturbation(
    "unit-or-date",
    label="units or dates changed",
    family="meaning",
    meaning="altering",
    level=1,
    unit="units and dates",
    high=20,
    languages=LISTED,
    resource=named_lists,
)
def change_unit_or_date(text: str, level: float, rng: Stream, lang: Language | None) -> str | None:
    """Change a unit after a number, a currency sign, a month or a day of the week: one by default.

    Skipped where the text has none of them.
    """
    lists = word_lists(lang)
    if lists is None:
        return None
    found = sorted([*_dates(text, lists, rng), *_units(text, lists), *_symbols(text, lists)])
    edits = [found[place] for place in rng.sample(len(found), max(1, round(level)))]
    return replaced(text, edits) if edits else None


def _other_number(number: str, rng: Stream) -> str:
    """The number with one digit changed; the first digit never becomes 0."""
    digits = [place for place, char in enumerate(number) if unicodedata.decimal(char, None) is not None]
    place = rng.choice(digits)
    value = unicodedata.decimal(number[place])
    lowest = 1 if place == 0 and len(digits) > 1 else 0
    new = rng.choice([digit for digit in range(lowest, 10) if digit != value])
    return number[:place] + chr(ord(number[place]) - value + new) + number[place + 1 :]


def _dates(text: str, lists: WordLists, rng: Stream) -> list[tuple[int, int, str]]:
    edits = []
    for word in words(text):
        for names in (lists.months, lists.weekdays):
            if word.text in names:
                others = [name for name in names if name != word.text]
                edits.append((word.start, word.end, rng.choice(others)))
    return edits


def _units(text: str, lists: WordLists) -> list[tuple[int, int, str]]:
    every = words(text)
    edits = []
    for place, word in enumerate(every):
        other = lists.units.get(word.text) or lists.units.get(word.text.lower())
        near = every[max(0, place - REACH) : place]
        if other and any(NUMBER.search(before.text) for before in near):
            edits.append((word.start, word.end, other))
    return edits


def _symbols(text: str, lists: WordLists) -> list[tuple[int, int, str]]:
    matches = [*SYMBOL_BEFORE.finditer(text), *SYMBOL_AFTER.finditer(text)]
    symbols = {match.start("symbol"): match["symbol"] for match in matches}
    return [(start, start + 1, lists.units[symbol]) for start, symbol in symbols.items() if symbol in lists.units]
