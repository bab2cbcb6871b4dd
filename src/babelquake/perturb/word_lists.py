"""The closed-class words of a language: determiners, negation, function words and small tables, as data files.

The files are `lexicon/words/<language>.yaml`. An entry with a leading hyphen (`-n't`) is the end of a word; one with a
trailing hyphen or apostrophe (`n'-`, `l'`) is the beginning of one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Literal

from babelquake.languages import Language
from babelquake.paths import table_of_room, tables_in
from babelquake.text import Span, words

DEFAULT = "en"
"""The language of texts of unknown language: the papers' translations are English."""


@dataclass(frozen=True)
class Entries:
    """A word list taken apart into whole words, beginnings and ends."""

    whole: frozenset[str]
    starts: tuple[str, ...]
    ends: tuple[str, ...]

    @classmethod
    def read(cls, entries: Iterable[str]) -> "Entries":
        """Tell whole words from parts of words by their hyphens and apostrophes."""
        whole, starts, ends = set(), set(), set()
        for entry in entries:
            if entry.startswith("-"):
                ends.add(entry[1:])
            elif entry.endswith(("-", "'", "’")):
                starts.add(entry.removesuffix("-"))
            else:
                whole.add(entry)
        return cls(frozenset(whole), tuple(sorted(starts, key=len)), tuple(sorted(ends, key=len)))

    def find(self, word: Span) -> Span | None:
        """The part of a word that the list names: all of it, its beginning, its end, or nothing."""
        text = word.text.lower()
        if text in self.whole:
            return word
        if len(text) != len(word.text):
            return None
        for start in self.starts:
            if text.startswith(start) and len(text) > len(start):
                return Span(word.start, word.start + len(start), word.text[: len(start)])
        for end in self.ends:
            if text.endswith(end) and len(text) > len(end):
                return Span(word.end - len(end), word.end, word.text[-len(end) :])
        return None


@dataclass(frozen=True)
class WordLists:
    """What is known of one language without a tagger."""

    lang: Language
    determiners: Entries
    negation: Entries
    function_words: Entries
    replacements: tuple[str, ...]
    """Determiners that can stand in for one another: whole words that do not negate."""
    pronoun_gender: Mapping[str, str] = field(default_factory=dict)
    negator: str = ""
    negator_position: Literal["before", "after"] = "after"
    negatable: frozenset[str] = frozenset()
    abbreviations: Mapping[str, str] = field(default_factory=dict)
    informal: Mapping[str, str] = field(default_factory=dict)
    months: tuple[str, ...] = ()
    weekdays: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def dates(self) -> frozenset[str]:
        """Months and days of the week as they are written."""
        return frozenset((*self.months, *self.weekdays))

    def is_function_word(self, word: str) -> bool:
        """Whether a word is closed-class; an elided article or preposition before it does not count (`l'Europe`)."""
        text = word.lower().replace("’", "'")
        if text in self.function_words.whole:
            return True
        prefix = next((start for start in self.function_words.starts if text.startswith(start)), "")
        return bool(prefix) and text[len(prefix) :] in self.function_words.whole

    def negations(self, text: str) -> list[Span]:
        """The negation markers of a text."""
        return [found for word in words(text) if (found := self.negation.find(word)) is not None]


@lru_cache(maxsize=64)
def word_lists(lang: Language | None) -> WordLists | None:
    """The lists of a language, or None where the project has none; an unknown language is taken for English."""
    code = base_language(lang)
    if code not in tables_in("perturb", "lexicon/words"):
        return None
    table: dict[str, Any] = table_of_room("perturb", f"lexicon/words/{code}")
    negation = set(table["negation"])
    spare = [word for word in table["determiners"] if word not in negation and word[-1].isalpha()]
    return WordLists(
        lang=code,
        determiners=Entries.read(word for word in table["determiners"] if word not in negation),
        negation=Entries.read(table["negation"]),
        function_words=Entries.read(table["function_words"]),
        replacements=tuple(spare),
        pronoun_gender=table.get("pronoun_gender", {}),
        negator=table.get("negator", ""),
        negator_position=table.get("negator_position", "after"),
        negatable=frozenset(table.get("negatable", ())),
        abbreviations=table.get("abbreviations", {}),
        informal=table.get("informal", {}),
        months=tuple(table.get("months", ())),
        weekdays=tuple(table.get("weekdays", ())),
        units=table.get("units", {}),
    )


def base_language(lang: Language | None) -> Language:
    """The language without its region: `de` for `de-AT`; English where it is unknown."""
    return Language(lang.code) if lang else Language(DEFAULT)


def named_lists(lang: Language | None) -> str:
    """For signatures: `lists:de`, or `lists:none` where the language has none."""
    found = word_lists(lang)
    return f"lists:{found.lang}" if found else "lists:none"
