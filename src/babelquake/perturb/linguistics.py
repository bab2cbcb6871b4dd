"""Which words of a text are determiners, content words and names: told by spaCy or by the project's own lists.

Kanojia 2021 (§5.1) used spaCy's tagger. It is used here where a model for the language is installed; elsewhere the
closed-class lists answer. The signature says which. `BABELQUAKE_LINGUISTICS` = `lists`, `spacy` or `auto` (the default)
overrides the choice.
"""

import os
from functools import lru_cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Any, Protocol

import regex

from babelquake.errors import UserError
from babelquake.languages import Language
from babelquake.paths import install_line
from babelquake.perturb.word_lists import WordLists, base_language, word_lists
from babelquake.text import Span, is_unspaced, words

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
