"""Which words of a text are determiners, content words and names: told by spaCy or by the project's own lists.

Kanojia 2021 (§5.1) used spaCy's tagger. It is used here where a model for the language is installed; elsewhere the
closed-class lists answer. The signature says which. `BABELQUAKE_LINGUISTICS` = `lists`, `spacy` or `auto` (the default)
overrides the choice.

The lists of a language – determiners, negation, function words and small tables – are `lexicon/words/<language>.yaml`.
An entry with a leading hyphen (`-n't`) is the end of a word; one with a trailing hyphen or apostrophe (`n'-`, `l'`) is
the beginning of one.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Any, Literal, Protocol

import regex

from babelquake.errors import UserError
from babelquake.languages import Language
from babelquake.paths import install_line, table_of_room, tables_in
from babelquake.text import Span, is_unspaced, words

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


VARIABLE = "BABELQUAKE_LINGUISTICS"
CHOICES = ("auto", "lists", "spacy")
SHORTEST = 4
"""In a language without lists, words of this many letters or more count as content words."""
CONTENT = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "ADV"})
NAMED = frozenset({"PERSON", "PER", "ORG", "GPE", "LOC", "FAC", "NORP"})
COMPOUND = regex.compile(r"\p{Script=Han}{2}|[\p{Script=Katakana}ー]{2,}")
"""Stand-ins for words where no spaces part them: pairs of Han characters, runs of katakana."""
LETTERS = regex.compile(r"\p{L}")
HALF = regex.compile(r"[\ud800-\udfff]")
ONLY_DETERMINERS = {"en": frozenset({"a", "an", "the", "my", "your", "our", "their", "its", "every"})}
"""Listed determiners that are nothing else, whatever follows them ('the other')."""
SENTENCE_START = regex.compile(r"(?:^|[.!?:;…]|[\"“”„«»‘(\[–—])\s*$")
CAPITALISES_NOUNS = frozenset({"de", "lb"})


class Linguistics(Protocol):
    """Finds the words that a perturbation needs."""

    @property
    def name(self) -> str:
        """For signatures: what tells the words apart, with its version."""

    def determiners(self, text: str) -> list[Span]:
        """Articles, demonstratives, possessives, quantifiers that stand before a noun."""

    def content_words(self, text: str) -> list[Span]:
        """Nouns, verbs, adjectives and adverbs."""

    def names(self, text: str) -> list[Span]:
        """Names of people, places and organisations; a name of several words is one span."""

    def tags(self, text: str) -> list[tuple[Span, str]]:
        """Every word with its universal part of speech."""


def not_stop_words(text: str, lang: Language | None) -> list[Span]:
    """Words on no list of closed-class words, numbers included: what Kanojia's code calls content words."""
    lists = word_lists(lang)
    return [piece for piece in pieces(text) if lists is None or not lists.is_function_word(piece.text)]


class ByLists:
    """Words told apart by closed-class lists; a language without them knows long words only."""

    def __init__(self, lang: Language, lists: WordLists | None) -> None:
        self.lang = lang
        self.lists = lists
        self.name = f"lists:{lang if lists else 'none'}"
        self._content = lru_cache(maxsize=256)(self._content_words)

    def determiners(self, text: str) -> list[Span]:
        """Listed words before a noun phrase: another determiner, or a word that is not closed-class, comes next.

        That leaves out conjunctions and pronouns of the same form (`that he`, German `, die sie`).
        """
        if self.lists is None:
            return []
        every = words(text)
        found = []
        for place, word in enumerate(every):
            part = self.lists.determiners.find(word)
            if part is None:
                continue
            following = every[place + 1] if place + 1 < len(every) else None
            if part != word or (following and self._begins_phrase(text, word, following)):
                found.append(part)
        return found

    def _begins_phrase(self, text: str, word: Span, following: Span) -> bool:
        lists = self.lists
        if lists is None or not text[word.end : following.start].isspace():
            return False
        return (
            word.text.lower() in ONLY_DETERMINERS.get(self.lang, ())
            or lists.determiners.find(following) is not None
            or not lists.is_function_word(following.text)
        )

    def content_words(self, text: str) -> list[Span]:
        """Words with letters that are not closed-class; pairs of characters where no spaces part words."""
        return list(self._content(text))

    def _content_words(self, text: str) -> list[Span]:
        if is_unspaced(text):
            return pieces(text)
        if self.lists is None:
            return [word for word in words(text) if len(LETTERS.findall(word.text)) >= SHORTEST]
        return [
            word for word in words(text) if LETTERS.search(word.text) and not self.lists.is_function_word(word.text)
        ]

    def names(self, text: str) -> list[Span]:
        """Runs of capitalised words; a single one only inside a sentence and not where nouns are capitalised too."""
        runs: list[list[Span]] = []
        for word in words(text):
            if not self._may_be_name(word.text):
                continue
            if runs and text[runs[-1][-1].end : word.start] == " ":
                runs[-1].append(word)
            else:
                runs.append([word])
        return [
            Span(run[0].start, run[-1].end, text[run[0].start : run[-1].end])
            for run in runs
            if len(run) > 1 or self._stands_out(text, run[0])
        ]

    def tags(self, text: str) -> list[tuple[Span, str]]:
        """What lists can tell: determiners, numbers, other closed-class words (`X`); the rest counts as nouns."""
        determiners = {span.start for span in self.determiners(text)}
        return [(word, self._tag(word, word.start in determiners)) for word in words(text)]

    def _tag(self, word: Span, determiner: bool) -> str:
        if determiner or not LETTERS.search(word.text):
            return "DET" if determiner else "NUM"
        return "X" if self.lists is not None and self.lists.is_function_word(word.text) else "NOUN"

    def _may_be_name(self, word: str) -> bool:
        lists = self.lists
        if not word[0].isupper() or len(word) == 1:
            return False
        return lists is None or not (lists.is_function_word(word) or word in lists.dates or word in lists.units)

    def _stands_out(self, text: str, word: Span) -> bool:
        if self.lang in CAPITALISES_NOUNS:
            return word.text.isupper()
        return word.text.isupper() or not SENTENCE_START.search(text[: word.start])


class BySpacy:
    """Words told apart by a spaCy pipeline."""

    def __init__(self, model: str) -> None:
        self._pipeline: Any = _load(model)
        self.name = f"spacy:{model}-{self._pipeline.meta['version']}"
        self._analysed = lru_cache(maxsize=256)(self._pipeline)

    def _analyse(self, text: str) -> Any:
        """The tagged text. spaCy cannot read an unpaired surrogate; another character takes its place."""
        return self._analysed(HALF.sub("\ufffd", text))

    def determiners(self, text: str) -> list[Span]:
        """Words tagged DET."""
        return [_span(text, token) for token in self._analyse(text) if token.pos_ == "DET"]

    def content_words(self, text: str) -> list[Span]:
        """Words tagged as nouns, names, verbs, adjectives or adverbs, negation left out."""
        return [
            _span(text, token)
            for token in self._analyse(text)
            if token.pos_ in CONTENT and token.dep_ != "neg" and LETTERS.search(token.text)
        ]

    def names(self, text: str) -> list[Span]:
        """Entities that name people, places or organisations, without an article before them."""
        found = []
        for entity in self._analyse(text).ents:
            kept = [token for token in entity if token.pos_ not in ("DET", "PART", "PUNCT", "SPACE")]
            if entity.label_ in NAMED and kept:
                start, end = kept[0].idx, kept[-1].idx + len(kept[-1])
                found.append(Span(start, end, text[start:end]))
        return found

    def tags(self, text: str) -> list[tuple[Span, str]]:
        """Every token as the tagger has it, punctuation left out."""
        return [
            (_span(text, token), token.pos_) for token in self._analyse(text) if token.pos_ not in ("PUNCT", "SPACE")
        ]


def linguistics(lang: Language | None) -> Linguistics:
    """What tells the words of a language apart on this machine."""
    choice = os.environ.get(VARIABLE, "auto")
    if choice not in CHOICES:
        raise UserError(f"{VARIABLE}={choice}: expected {', '.join(CHOICES)}.")
    return _linguistics(base_language(lang), choice)


def resource(lang: Language | None) -> str:
    """For signatures: the name of what tells the words of a language apart."""
    return linguistics(lang).name


def pieces(text: str) -> list[Span]:
    """The words of a text; where no spaces part them, pairs of Han characters and runs of katakana."""
    if is_unspaced(text):
        return [Span(found.start(), found.end(), found.group()) for found in COMPOUND.finditer(text)]
    return words(text)


@lru_cache(maxsize=64)
def _linguistics(lang: Language, choice: str) -> Linguistics:
    model = _spacy_model(lang) if choice != "lists" else None
    if model:
        return BySpacy(model)
    if choice == "spacy":
        raise UserError(
            f"{VARIABLE}=spacy, but no spaCy model for '{lang}' is installed: "
            f"try `{install_line('spacy')}` and `python -m spacy download {lang}_core_news_sm`, or use lists."
        )
    return ByLists(lang, word_lists(lang))


def _spacy_model(lang: Language) -> str | None:
    """The first installed model of a language by name; looks at package metadata only."""
    if find_spec("spacy") is None:
        return None
    return min(
        (point.name for point in entry_points(group="spacy_models") if point.name.startswith(f"{lang}_")), default=None
    )


def _load(model: str) -> Any:
    import spacy

    return spacy.load(model)


def _span(text: str, token: Any) -> Span:
    start, end = token.idx, token.idx + len(token)
    return Span(start, end, text[start:end])
