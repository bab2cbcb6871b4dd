"""Words that detectors know of a language: numbers, months, units, negation, what chat models say. Data files.

The files are `words/<language>.yaml`, all keys optional. Words are in lower case; one with a trailing hyphen is the
beginning of words. Of negation there are, for sources, `denies` (negated verbs), `figures` (denials that are often
said without one), `unless` and `unless_words` (what makes a denial hard to weigh) and `may_deny` (what denies, may be
misspelt for it, or is often said by denying the opposite); for translations `gained` and `unless_gained`.
"""

import re
from functools import cached_property, lru_cache
from typing import Any

from babelquake.languages import Language
from babelquake.paths import table_of_room, tables_in


class Words:
    """The word lists of one language."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data

    def _of(self, key: str) -> Any:
        return self._data.get(key) or {}

    def _words(self, key: str) -> list[str]:
        return str(self._data.get(key) or "").split()

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Number words and ordinals, with all their forms, and their values."""
        return {word: value for value, forms in self._of("numbers").items() for word in str(forms).split()}

    @cached_property
    def number_starts(self) -> tuple[str, ...]:
        """Beginnings of words that may be numbers, compounds among them."""
        return tuple(self._words("number_starts"))

    @cached_property
    def scales(self) -> frozenset[str]:
        """Thousand, million, dozen and their like, whole or abbreviated."""
        return frozenset(self._words("scales"))

    @cached_property
    def months(self) -> dict[str, int]:
        """Names of months and their numbers."""
        return _numbered(self._of("months"))

    @cached_property
    def weekdays(self) -> dict[str, int]:
        """Names of weekdays, Monday first."""
        return _numbered(self._of("weekdays"))

    @cached_property
    def calendar(self) -> frozenset[str]:
        """Names of months and weekdays."""
        return frozenset(self.months) | frozenset(self.weekdays)

    @cached_property
    def units(self) -> dict[str, str]:
        """Words for units, and the unit's name."""
        return {word: unit for unit, forms in self._of("units").items() for word in str(forms).split()}

    @cached_property
    def negative(self) -> frozenset[str]:
        """Words that deny."""
        return frozenset(word for word in self._words("negative") if not word.endswith("-"))

    @cached_property
    def negative_starts(self) -> tuple[str, ...]:
        """Beginnings of words that may deny."""
        return tuple(word[:-1] for word in self._words("negative") if word.endswith("-"))

    @cached_property
    def plain(self) -> frozenset[str]:
        """Words that begin as words that deny do, and do not deny."""
        return frozenset(word for word in self._words("plain") if not word.endswith("-"))

    @cached_property
    def plain_starts(self) -> tuple[str, ...]:
        """Beginnings of such words."""
        return tuple(word[:-1] for word in self._words("plain") if word.endswith("-"))

    @cached_property
    def gained(self) -> frozenset[str]:
        """Words that deny beyond doubt, where they stand in a translation."""
        return frozenset(self._words("gained"))

    @cached_property
    def unless_words(self) -> frozenset[str]:
        """Words beside which a denial is hard to weigh: conditions, figures of speech, adjectives with an opposite."""
        return frozenset(self._words("unless_words"))

    @cached_property
    def function_words(self) -> frozenset[str]:
        """Words that hold sentences together and no other language of the alphabet uses."""
        return frozenset(self._words("function_words"))

    @cached_property
    def triggers(self) -> frozenset[str]:
        """Words of which refusals, preambles and notes have at least one; empty where words are not parted."""
        return frozenset(self._words("triggers"))

    @cached_property
    def answer_triggers(self) -> frozenset[str]:
        """Words of which the usual openings of answers have at least one."""
        return frozenset(self._words("answer_triggers"))

    @cached_property
    def yes_no(self) -> frozenset[str]:
        """How answers begin."""
        return frozenset(self._words("yes_no"))

    @cached_property
    def question_words(self) -> frozenset[str]:
        """Words that questions begin with, direct and indirect ones."""
        return frozenset(self._words("question_words"))

    @cached_property
    def tell_me(self) -> frozenset[str]:
        """Words that only an order to tell something has."""
        return frozenset(self._words("tell_me"))

    def pattern(self, key: str) -> re.Pattern[str] | None:
        """An expression of the language's list of that name, such as `refusal`; None where there is none."""
        return _compiled(tuple(self._of(key) or ()))


@lru_cache(maxsize=256)
def _compiled(alternatives: tuple[str, ...]) -> re.Pattern[str] | None:
    return re.compile("|".join(f"(?:{item})" for item in alternatives), re.IGNORECASE) if alternatives else None


def _numbered(lists: Any) -> dict[str, int]:
    return {word: number for number, forms in enumerate(lists or (), 1) for word in str(forms).split()}


@lru_cache(maxsize=256)
def words_of(language: Language | None) -> Words | None:
    """The lists of a language; None where there are none."""
    known = language is not None and language.code in known_languages()
    return Words(table_of_room("failures", f"words/{language.code}")) if language and known else None


def known_languages() -> tuple[str, ...]:
    """Languages with lists."""
    return tables_in("failures", "words")
