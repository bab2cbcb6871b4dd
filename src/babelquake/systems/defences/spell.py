"""`spell`: a corrector of typos that would rather leave a typo than change a word that was meant.

Candidates come from SymSpell (Garbe 2012) over frequency lists. A channel says how likely a writer is to hit what
stands there instead of the candidate: swapped, doubled and neighbouring letters, left-out accents. A candidate is
accepted when its frequency, less the cost of its channel, beats the others by a margin. Words of the lists, compounds
of them, names, acronyms and whatever stands in a sentence that is mostly unknown are left alone. For English a
language model may have the last word, `spell[model=gpt-en]`: it chooses between the candidates where frequency alone
does not, and takes none that does not make the text likelier.
"""

import unicodedata
from collections.abc import Iterator
from functools import cached_property, lru_cache
from importlib.util import find_spec
from math import log
from typing import Annotated, Any, NamedTuple

import regex

from babelquake.errors import UserError
from babelquake.languages import Language
from babelquake.perturb.spelling import Keyboard
from babelquake.perturb.spelling import keyboard_of as layout_of
from babelquake.spec import Range
from babelquake.systems.defences.base import Before
from babelquake.systems.defences.word_lists import CASED, SPELT, WordList, cased, given, spoken
from babelquake.text import main_script, match_case, replaced

TOKEN = regex.compile(
    r"(?<![\p{L}\p{M}\p{N}@#._\\])(?:[\p{L}\p{M}]++(?:['’]\p{L}++)?+|\p{L}[\p{Ll}\p{M}]*+\d[\p{Ll}\p{M}]++)"
    r"(?![\p{L}\p{M}\p{N}@_\\]|\.\p{L})"
)
"""A word that is no part of an address, a hashtag, a file name or a code; one digit inside may be a slip."""
CANDIDATES = 60_000
"""Words that a typo may have been meant as: the most frequent ones."""
UNKNOWN = 0.5
"""A text with a larger share of unknown words is of another language, or no prose."""
SWAPPED, ACCENT, DOUBLED, NEAR, LOST, ADDED, OTHER, FIRST = 0.3, 0.2, 0.4, 0.7, 0.7, 0.9, 1.8, 0.4
"""What the channel takes off, in powers of ten: see `Channel`."""
NAME, NOUN = 1.5, 0.4
"""Taken off a word usually in lower case where a capital stands, and the other way round."""
RARE = {1: 9.0, 2: 3.0, 3: 2.0, 4: 1.0, 5: 0.6}
"""How frequent (powers of ten in a million) a candidate must be for a typo of so many letters; longer ones: LEAST."""
LEAST, BEST = 0.0, -1.5
"""And what must be left of its frequency when the channel has taken its share."""
OUTVOTED = 3.0
"""A word that only subtitles know is a typo of one that is so much more frequent, the channel counted."""
ACCENTED = 2.5
"""A known word is what was left of an accented one that is so much more frequent."""
RARE_WORD = 1.0
"""Frequency, in powers of ten in a million, above which a known word is never a typo."""
LINKS = ("", "s", "n", "en", "es", "er")
"""What German puts between the parts of a compound."""
PART = 4
"""Letters of a part of a compound at least."""
CHOICES = 4
"""Candidates for a word between which a language model chooses."""
COMPOUNDING = frozenset({"de", "nl"})
BETWEEN = frozenset(" \"'„“”»«([–-\t\u00a0")
"""What may stand between the end of a sentence and the first word of the next."""
PLAIN = {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d"}


class Word(NamedTuple):
    """A word of a text that may be a typo."""

    start: int
    end: int
    text: str
    inside: bool
    """Whether it stands inside a sentence, where a capital letter says something."""
    hyphened: bool
    """Whether a hyphen joins it to another, as it does abbreviations."""


class Spell(Before):
    """Typos corrected by frequency lists where one candidate is clearly the likeliest; known words and names stay."""

    version = 2

    languages = SPELT

    def __init__(
        self,
        margin: Annotated[float, Range(0, 10)] = 0.5,
        list: str | None = None,
        model: str | None = None,
    ) -> None:
        self._margin = margin
        self._path = list
        self._model = model

    @property
    def served(self) -> tuple[str, ...]:
        """English alone where a language model decides; any language where a list was given."""
        return ("en",) if self._model else () if self._path else self.languages

    def serve(self, source: Language | None, target: Language | None) -> None:
        super().serve(source, target)
        if find_spec("symspellpy") is None:
            raise UserError("the defence 'spell' needs symspellpy: pip install 'babelquake[spell]'.")
        code = source.code if source else ""
        self._lists: tuple[WordList, ...]
        if self._path:
            self._lists = (given(self._path),)
        else:
            self._lists = (*([cased(code)] if code in CASED else []), spoken(code))
        self._compounds = code in COMPOUNDING
        self._nouns = code == "de"

    def facts(self) -> dict[str, object]:
        from importlib.metadata import version

        return {
            "lists": "+".join(found.hash for found in self._lists),
            "symspellpy": version("symspellpy"),
            "lm": self._scorer.signature if self._model else None,
        }

    def prepare(self) -> None:
        self.correct("x x")
        self._ranked("xx", False, False)
        if self._model:
            self._scorer.log_probabilities(["x"])

    @cached_property
    def _frequency(self) -> dict[str, float]:
        """Powers of ten in a million of every known word: of the list that has it more often."""
        merged: dict[str, float] = {}
        for found in self._lists:
            for word, value in found.frequency.items():
                merged[word] = max(merged.get(word, value), value)
        return merged

    @cached_property
    def _usual(self) -> dict[str, str]:
        return self._lists[0].by_lower

    @cached_property
    def _plain(self) -> dict[str, str]:
        """The most frequent word that leaves these letters when its accents are lost."""
        found: dict[str, str] = {}
        for word in self._likely:
            if not word.isascii():
                for bare in {plain(word), umlauts(word)}:
                    found.setdefault(bare, word)
        return found

    @cached_property
    def _likely(self) -> list[str]:
        ordered = sorted(self._frequency.items(), key=lambda item: (-item[1], item[0]))
        return [word for word, _ in ordered[:CANDIDATES]]

    @cached_property
    def _index(self) -> Any:
        from symspellpy import SymSpell

        index = SymSpell(max_dictionary_edit_distance=1, prefix_length=7)
        for place, word in enumerate(self._likely):
            index.create_dictionary_entry(word, len(self._likely) - place)
        return index

    @cached_property
    def _channel(self) -> "Channel":
        return Channel(layout_of(self.source, main_script("".join(self._likely[:50]))))

    def correct(self, text: str) -> str:
        """The text with those typos corrected of which there is little doubt."""
        edits = []
        for word, ranked in self._suspects(text):
            if len(ranked) < 2 or ranked[0][0] - ranked[1][0] >= self._margin:
                edits.append((word.start, word.end, match_case(ranked[0][1], word.text)))
        return replaced(text, edits) if edits else text

    def correct_all(self, texts: list[str]) -> list[str]:
        """Where a language model decides, it is asked about all texts at once."""
        if not self._model:
            return super().correct_all(texts)
        suspects = [self._suspects(text) for text in texts]
        doubtful = [place for place, found in enumerate(suspects) if found]
        versions = {texts[place]: 0.0 for place in doubtful}
        for place in doubtful:
            for word, ranked in suspects[place]:
                versions |= {_with(texts[place], word, meant): 0.0 for _, meant in ranked[:CHOICES]}
        if versions:
            scores = self._scorer.log_probabilities(list(versions))
            versions = {text: float(sum(found)) for text, found in zip(versions, scores, strict=True)}
        found = list(texts)
        for place in doubtful:
            edits = [
                edit
                for word, ranked in suspects[place]
                if (edit := self._likeliest(texts[place], word, ranked, versions))
            ]
            found[place] = replaced(texts[place], edits)
        return found

    def _suspects(self, text: str) -> list[tuple[Word, list[tuple[float, str]]]]:
        """Words that may be typos, with what each may have been meant as, the likeliest first."""
        every = list(_words(text))
        unknown = {word for word in every if not self._is_known(word.text.lower().replace("’", "'"))}
        if len(unknown) > max(2.0, UNKNOWN * len(every)):
            return []
        found = [(word, self._meant(word) if word in unknown else self._outvoted(word)) for word in every]
        return [(word, ranked) for word, ranked in found if ranked and ranked[0][1] != word.text.lower()]

    def _is_known(self, word: str) -> bool:
        if word in self._frequency:
            return True
        stem, apostrophe, _ = word.partition("'")
        if apostrophe and stem in self._frequency:
            return True
        return self._compounds and len(word) >= 2 * PART and self._is_compound(word)

    def _is_compound(self, word: str) -> bool:
        known = self._usual
        for cut in range(len(word) - PART, PART - 1, -1):
            if word[cut:] in known:
                first = word[:cut]
                heads = (first[: len(first) - len(link)] for link in LINKS if first.endswith(link))
                if any(len(head) >= PART and head in known for head in heads):
                    return True
        return False

    def _outvoted(self, word: Word) -> list[tuple[float, str]]:
        """What a rare word is the typo of, because that is far more frequent: `fur` of `für`, `dei` of `die`."""
        lower, text = word.text.lower(), word.text
        rarity = self._frequency.get(lower)
        if rarity is None:
            return []
        accented = self._plain.get(lower)
        if accented is not None and self._frequency[accented] - rarity >= ACCENTED:
            return [(self._frequency[accented] - ACCENT, accented)]
        if (lower in self._usual and len(self._lists) > 1) or any(char.isupper() for char in text[1:]):
            return []
        if rarity > RARE_WORD or (word.inside and text[0].isupper()):
            return []
        ranked = self._ranked(lower, False, self._nouns and text[0].islower())
        others = [found for found in ranked if found[1] != lower]
        return others if others and others[0][0] - rarity >= OUTVOTED else []

    def _meant(self, word: Word) -> list[tuple[float, str]]:
        """What an unknown word may have been meant as; nothing where the likeliest is not likely enough."""
        text = word.text
        if "'" in text or "’" in text or any(char.isupper() for char in text[1:]) or len(set(text.lower())) < 2:
            return []
        if (word.inside and text[0].isupper() and not self._nouns) or (word.hyphened and len(text) <= PART):
            return []
        lower = text.lower()
        if (accented := self._plain.get(lower)) is not None:
            return [(self._frequency[accented] - ACCENT, accented)]
        ranked = self._ranked(lower, word.inside and text[0].isupper(), self._nouns and text[0].islower())
        if text[0].isupper():
            ranked = [found for found in ranked if self._is_no_name(word, found[1])]
        if not ranked or ranked[0][0] < BEST or self._frequency[ranked[0][1]] < RARE.get(len(lower), LEAST):
            return []
        return ranked

    def _is_no_name(self, word: Word, meant: str) -> bool:
        """Whether a capitalised word may be a slip rather than a name: a long one that begins like a usual word."""
        if not word.inside and self._usual.get(meant, meant).islower():
            return True
        lower = word.text.lower()
        return len(lower) > PART and lower[0] == meant[0] and self._channel.cost(lower, meant) < OTHER

    def _ranked(self, word: str, named: bool, small: bool) -> list[tuple[float, str]]:
        """Candidates, the likeliest first: frequency less what the channel and the case take off."""
        from symspellpy import Verbosity

        found = []
        for suggestion in self._index.lookup(word, Verbosity.ALL, max_edit_distance=1):
            meant = suggestion.term
            score = self._frequency[meant] - self._channel.cost(word, meant)
            capital = self._usual.get(meant, meant)[0].isupper()
            score -= NAME * (named and not capital) + NOUN * (small and capital)
            found.append((score, meant))
        return sorted(found, key=lambda item: (-item[0], item[1]))

    @cached_property
    def _scorer(self) -> Any:
        from babelquake.models import causal

        return causal(str(self._model))

    def _likeliest(
        self, text: str, word: Word, ranked: list[tuple[float, str]], likely: dict[str, float]
    ) -> tuple[int, int, str] | None:
        """The correction that the language model, less the cost of its channel, prefers; None where it is no gain."""
        gains = []
        for score, meant in ranked[:CHOICES]:
            gain = (likely[_with(text, word, meant)] - likely[text]) / log(10)
            gains.append((gain - (self._frequency[meant] - score), gain, meant))
        _, gain, meant = max(gains)
        return (word.start, word.end, match_case(meant, word.text)) if gain >= self._margin else None

    def close(self) -> None:
        """Give the model's memory back; word lists stay."""
        if "_scorer" in self.__dict__:
            self._scorer.close()


def _with(text: str, word: Word, meant: str) -> str:
    """A text with one word in the place of another."""
    return replaced(text, [(word.start, word.end, match_case(meant, word.text))])


def _words(text: str) -> Iterator[Word]:
    """The words of a text, and whether each stands inside a sentence."""
    for found in TOKEN.finditer(text):
        start, end = found.span()
        place = start - 1
        while place >= 0 and text[place] in BETWEEN:
            place -= 1
        hyphened = text[start - 1 : start] == "-" or text[end : end + 1] == "-"
        yield Word(start, end, found.group(), place >= 0 and text[place] not in ".!?:…", hyphened)


@lru_cache(maxsize=65_536)
def plain(word: str) -> str:
    """A word without accents."""
    bare = "".join(char for char in unicodedata.normalize("NFD", word) if unicodedata.category(char) != "Mn")
    return "".join(PLAIN.get(char, char) for char in bare)


def umlauts(word: str) -> str:
    """A word as keyboards without umlauts write it."""
    for letter, written in (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("ß", "ss")):
        word = word.replace(letter, written)
    return plain(word)


class Channel:
    """What a writer hits instead of what is meant, for words one edit apart."""

    def __init__(self, board: Keyboard | None) -> None:
        self._near = board.neighbours if board else {}

    def cost(self, typed: str, meant: str) -> float:
        """Powers of ten by which the typo is less likely than the word."""
        start = 0
        while start < min(len(typed), len(meant)) and typed[start] == meant[start]:
            start += 1
        at_first = FIRST * (start == 0)
        if len(typed) == len(meant):
            if typed[start : start + 2] == meant[start : start + 2][::-1]:
                return SWAPPED + at_first
            hit, wanted = typed[start], meant[start]
            if plain(hit) == plain(wanted):
                return ACCENT
            return (NEAR if hit in self._near.get(wanted, "") else 9.0 if hit.isdigit() else OTHER) + at_first
        longer, base = (typed, ADDED) if len(typed) > len(meant) else (meant, LOST)
        letter = longer[start]
        if letter.isdigit():
            return 9.0
        if letter in (longer[start - 1 : start], longer[start + 1 : start + 2]):
            return DOUBLED
        return base + at_first
