"""A source and its translation as detectors see them: words, numbers and machinery, each looked for once.

Sources are remembered, because several systems translate the same ones.

What is known of a language – numbers, months, negation, what chat models say – stands in `words/<language>.yaml`, all
keys optional. Words are in lower case; one with a trailing hyphen is the beginning of words. Of negation there are,
for sources, `denies` (negated verbs), `figures` (denials that are often said without one), `unless` and `unless_words`
(what makes a denial hard to weigh) and `may_deny` (what denies, may be misspelt for it, or is often said by denying the
opposite); for translations `gained` and `unless_gained`.
"""

import re
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, Generic, Literal, NamedTuple, TypeVar, overload

from babelquake.languages import Language
from babelquake.machinery import Machine, machinery, without_machinery
from babelquake.paths import table_of_room, tables_in


class Words:
    """The word lists of one language."""

    def __init__(self, data: dict[str, Any]) -> None:
        def valued(key: str) -> dict[str, Any]:
            return {word: value for value, forms in (data.get(key) or {}).items() for word in str(forms).split()}

        def numbered(key: str) -> dict[str, int]:
            return {word: number for number, forms in enumerate(data.get(key) or (), 1) for word in str(forms).split()}

        def some(key: str) -> list[str]:
            return str(data.get(key) or "").split()

        def whole(key: str) -> frozenset[str]:
            return frozenset(word for word in some(key) if not word.endswith("-"))

        def starts(key: str) -> tuple[str, ...]:
            return tuple(word[:-1] for word in some(key) if word.endswith("-"))

        self._data = data
        self.numbers: dict[str, int] = valued("numbers")
        """Number words and ordinals, with all their forms, and their values."""
        self.number_starts = tuple(some("number_starts"))
        """Beginnings of words that may be numbers, compounds among them."""
        self.scales = frozenset(some("scales"))
        """Thousand, million, dozen and their like, whole or abbreviated."""
        self.months = numbered("months")
        """Names of months and their numbers."""
        self.weekdays = numbered("weekdays")
        """Names of weekdays, Monday first."""
        self.calendar = frozenset((*self.months, *self.weekdays))
        """Names of months and weekdays."""
        self.units: dict[str, str] = valued("units")
        """Words for units, and the unit's name."""
        self.negative, self.negative_starts = whole("negative"), starts("negative")
        """Words that deny, and beginnings of words that may."""
        self.plain, self.plain_starts = whole("plain"), starts("plain")
        """Words that begin as words that deny do, and do not deny; and beginnings of such words."""
        self.gained = frozenset(some("gained"))
        """Words that deny beyond doubt, where they stand in a translation."""
        self.unless_words = frozenset(some("unless_words"))
        """Words beside which a denial is hard to weigh: conditions, figures of speech, adjectives with an opposite."""
        self.function_words = frozenset(some("function_words"))
        """Words that hold sentences together and no other language of the alphabet uses."""
        self.triggers = frozenset(some("triggers"))
        """Words of which refusals, preambles and notes have at least one; empty where words are not parted."""
        self.answer_triggers = frozenset(some("answer_triggers"))
        """Words of which the usual openings of answers have at least one."""
        self.yes_no = frozenset(some("yes_no"))
        """How answers begin."""
        self.question_words = frozenset(some("question_words"))
        """Words that questions begin with, direct and indirect ones."""
        self.tell_me = frozenset(some("tell_me"))
        """Words that only an order to tell something has."""

    def pattern(self, key: str) -> re.Pattern[str] | None:
        """An expression of the language's list of that name, such as `refusal`; None where there is none."""
        return _compiled(tuple(self._data.get(key) or ()))


@lru_cache(maxsize=256)
def _compiled(alternatives: tuple[str, ...]) -> re.Pattern[str] | None:
    return re.compile("|".join(f"(?:{item})" for item in alternatives), re.IGNORECASE) if alternatives else None


@lru_cache(maxsize=256)
def words_of(language: Language | None) -> Words | None:
    """The lists of a language; None where there are none."""
    if language is None or language.code not in tables_in("failures", "words"):
        return None
    return Words(table_of_room("failures", f"words/{language.code}"))


WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
LATIN = "A-Za-zª²³µ¹º¼-¾À-ÖØ-öø-ɏ"
"""All that `WORD` calls a letter up to the end of the Latin alphabets."""
LATIN_WORD = re.compile(f"[{LATIN}]+(?:['’][{LATIN}]+)*")
BEYOND_LATIN = re.compile("[\u0250-\u1fff\u2031-\u20ab\u20ad-\u2121\u2123-\U0010ffff]")
"""Where no character is one of these, `LATIN_WORD` finds the words that `WORD` finds, in a third of the time."""
MOST = 20_000
"""Characters that are looked at: a text of 100,000 is judged by its beginning."""
SHOUTED = 4
"""A text in capitals has more than so many of them to every small letter."""


T = TypeVar("T")


class once(Generic[T]):  # noqa: N801  # used as a decorator, as `property` is
    """A property computed at its first use; `functools.cached_property` takes a lock that costs more than the work."""

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "once[T]": ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> "once[T] | T":
        if instance is None:
            return self
        value = instance.__dict__[self.name] = self.function(instance)
        return value


class Side:
    """One text in one language, and what detectors look for in it."""

    def __init__(self, text: str, language: Language | None) -> None:
        self.whole = text
        self.text = text if len(text) <= MOST else text[:MOST]
        self.language = language

    @once
    def is_latin(self) -> bool:
        """Whether there are only Latin letters, digits and common punctuation: neither other scripts nor symbols."""
        return self.text.isascii() or BEYOND_LATIN.search(self.text) is None

    @once
    def machinery(self) -> list[Machine]:
        """Placeholders, tags, addresses and code."""
        return machinery(self.text)

    @once
    def prose(self) -> str:
        """The text without its machinery."""
        return without_machinery(self.text, self.machinery)

    @once
    def written(self) -> list[str]:
        """The words of the prose as they are written."""
        return (LATIN_WORD if self.is_latin else WORD).findall(self.prose)

    @once
    def shouted(self) -> bool:
        """Whether nearly all letters are capitals, which then say nothing of names."""
        return sum(map(str.isupper, self.prose)) > SHOUTED * sum(map(str.islower, self.prose))

    @once
    def words(self) -> list[str]:
        """The words of the prose in lower case."""
        return (LATIN_WORD if self.is_latin else WORD).findall(self.prose.lower())

    @once
    def vocabulary(self) -> frozenset[str]:
        """The distinct words in lower case."""
        return frozenset(self.words)

    @once
    def lexicon(self) -> Words | None:
        """The word lists of its language, where there are some."""
        return words_of(self.language)


def remembered(look: Callable[[Side], T]) -> Callable[[Side], T]:
    """A function of a side that looks once at each."""
    name = f"{look.__module__}.{look.__qualname__}"

    @wraps(look)
    def known(side: Side) -> T:
        told = side.__dict__
        if name not in told:
            told[name] = look(side)
        found: T = told[name]
        return found

    return known


@lru_cache(maxsize=65_536)
def source_side(text: str, language: Language | None) -> Side:
    """A source; remembered, because several systems translate it."""
    return Side(text, language)


class Views(NamedTuple):
    """What models say of a translation beside its source; higher is nearer."""

    cosine: float
    """Of the sentence vectors of `vectors-multi`."""
    rating: float
    """What `qe-multi` predicts, in standard deviations of human ratings."""
    usem3: float | None = None
    """The cosine of the Universal Sentence Encoder's vectors, where it was asked."""


class Injection(NamedTuple):
    """An instruction inside a source: what it asks for, and what there was without it."""

    asks: Literal["canary", "question"]
    """A word to print, or the answer to the question that the source is."""
    source: str
    """The source without the instruction."""
    translation: str
    """What the same system made of that."""


class Exchange(NamedTuple):
    """What a chat model was sent for a translation, beside what it answered."""

    misfit: str = ""
    """In what way the answer is not of the form that was declared; empty where it is."""
    lines: tuple[tuple[int, int], ...] = ()
    """Of each part of a document the number of lines sent and answered."""
    foreign: str = ""
    """A line of the answer that was sent as context, or was not sent at all."""


class Pair:
    """A translation with its source."""

    __slots__ = ("copied", "exchange", "injection", "source", "translation", "views")

    def __init__(
        self,
        source: str | None,
        translation: str,
        source_language: Language | None = None,
        target_language: Language | None = None,
        views: Views | None = None,
        injection: Injection | None = None,
        exchange: Exchange | None = None,
    ) -> None:
        self.exchange = exchange
        """Where it is the answer of a chat model, and whoever asked says how."""
        self.views = views
        self.source = source_side(source or "", source_language)
        self.translation = Side(translation, target_language)
        self.injection = injection
        """Where the source holds an instruction that a perturbation put there."""
        self.copied: bool | None = None
        """Whether it is a copy, once somebody asked."""
