"""`fold`: characters that only look like those meant, or that nobody sees, become the usual ones.

What a script needs stays: joiners in Arabic and Indic words and in emoji sequences, marks of direction beside Hebrew
and Arabic letters, full-width forms in Chinese, Japanese and Korean, no-break spaces where typography puts them.
"""

import unicodedata
from functools import cache

import regex

from babelquake.perturb.typography import homoglyphs
from babelquake.systems.defences.base import Before
from babelquake.systems.defences.word_lists import CASED, WordList, cased
from babelquake.text import main_script, script

ALPHABETS = ("Latin", "Cyrillic", "Greek")
"""Scripts whose letters are mistaken for each other's."""
WIDE = frozenset({"Han", "Hiragana", "Katakana", "Hangul"})
"""Scripts that write full-width marks."""
WIDE_LETTER = regex.compile("|".join(rf"\p{{Script={name}}}" for name in sorted(WIDE)))
UNSEEN = regex.compile(r"[\u00ad\u200b\u2060-\u2064\ufeff\u180e\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]+")
"""Soft hyphens, zero-width spaces, byte-order marks, control characters: text without them is the same text."""
JOINERS = regex.compile(
    r"(?<=[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}\p{P}\s]|^)[\u200c\u200d\ufe00-\ufe0f]+"
    r"(?=[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}\p{P}\s]|$)"
)
"""Joiners and variation selectors between letters that are not joined."""
DIRECTIONS = regex.compile(r"[\u200e\u200f\u202a-\u202e\u2066-\u2069\u061c]+")
RIGHT_TO_LEFT = regex.compile(r"[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]")
SPACE = "[\t \u00a0\u1680\u2000-\u200a\u202f\u205f]"
RUN = regex.compile(rf"{SPACE}{{2,}}|[\t\u1680\u2000-\u2008\u200a\u205f]")
"""More than one space, or one that no typography puts between words."""
TIED = regex.compile(r"(?<=\p{L})[\u00a0\u202f\u2009](?=\p{L})")
"""A no-break space between two words: few languages tie these together."""
TIED_LONG = regex.compile(r"(?<=\p{L}{4,})[\u00a0\u202f\u2009](?=\p{Ll}{4,})")
TIED_CLAUSE = regex.compile(r"(?<=\p{L}[,;])[\u00a0\u202f\u2009](?=\p{L})")
"""A no-break space behind a comma, where no language has one."""
TYING = frozenset({"be", "cs", "es", "fi", "fr", "hr", "lt", "lv", "ru", "sk", "sl", "sv", "uk"})
"""Languages whose typesetters tie short words to the next one."""
TYING_ANY = frozenset({"pl"})
"""And those that tie any two."""
BEFORE_MARK = regex.compile(r"(?<=\p{L}) (?=[,.](?:\s|$))")
"""A space that is in front of a comma or a full stop; French puts spaces before other marks."""
AFTER_COMMA = regex.compile(r"(?<=\p{Ll}{2}),(?=\p{L}{2})")
"""A comma without the space behind it; one with a space in front may be a quotation mark that was typed as a comma."""
IDEOGRAPHIC = "\u3000"
"""The space of Chinese and Japanese."""
DASHES = {"\u2010": "-", "\u2011": "-", "\u2012": "–", "\u2015": "—", "\ufe58": "—", "\ufe63": "-"}
STYLED = regex.compile(r"[\ufb00-\ufb06\U0001d400-\U0001d7ff\uff01-\uff5e]")
"""Ligatures, mathematical and full-width forms of Latin letters, digits and marks."""
LETTERS = regex.compile(r"[\p{L}\p{M}]+")
STRETCHED = regex.compile(r"(\p{L})\1{2,}", regex.IGNORECASE)
MOST_FOREIGN = 3
"""Letters of a word in another script that may be look-alikes throughout; longer ones are words of that script."""
LONG = 4
"""So often in a row no language repeats a letter."""
ROMAN = regex.compile(r"[IVXLCDM]+")


class Fold(Before):
    """Look-alike letters, invisible characters, odd spaces and dashes, stretched letters become the usual ones."""

    version = 3

    def correct(self, text: str) -> str:
        """The text with usual characters."""
        text = UNSEEN.sub("", text)
        if not text.isascii():
            text = self._usual_characters(text)
        text = RUN.sub(" ", text)
        if text[:1] == " " or text[-1:] == " ":
            text = text.strip(" ")
        name = main_script(text)
        if name in ALPHABETS:
            text = AFTER_COMMA.sub(", ", BEFORE_MARK.sub("", text))
            if STRETCHED.search(text):
                text = LETTERS.sub(lambda found: self._shortened(found.group()), text)
        return text

    def _usual_characters(self, text: str) -> str:
        name = main_script(text)
        if not RIGHT_TO_LEFT.search(text):
            text = DIRECTIONS.sub("", text)
        text = JOINERS.sub("", text)
        code = self.source.code if self.source else ""
        text = TIED_CLAUSE.sub(" ", text)
        if code not in TYING_ANY:
            text = (TIED_LONG if code in TYING else TIED).sub(" ", text)
        if name in ALPHABETS:
            if not WIDE_LETTER.search(text):
                text = text.replace(IDEOGRAPHIC, " ")
                text = STYLED.sub(lambda found: unicodedata.normalize("NFKC", found.group()), text)
            if not unicodedata.is_normalized("NFC", text):
                text = LETTERS.sub(lambda found: _composed(found.group()), text)
            text = LETTERS.sub(lambda found: _unmixed(found.group(), name), text)
            text = _single_letters(text, name)
        if name not in WIDE:
            for odd, usual in DASHES.items():
                text = text.replace(odd, usual)
        return text

    def prepare(self) -> None:
        if self._list is not None:
            self._list.frequency  # noqa: B018 - computed once

    @property
    def _list(self) -> WordList | None:
        return cased(self.source.code) if self.source and self.source.code in CASED else None

    def _shortened(self, word: str) -> str:
        """A stretched word as it is known, or with one letter in place of four and more; `xxx` stays."""
        if not STRETCHED.search(word) or ROMAN.fullmatch(word) or len(set(word.lower())) == 1:
            return word
        known = self._list.frequency if self._list else {}
        if word.lower() in known or (word.isupper() and len(word) <= LONG):
            return word
        versions = [str(STRETCHED.sub(lambda found, width=width: found.group()[:width], word)) for width in (1, 2)]
        if listed := [short for short in versions if short.lower() in known]:
            return max(listed, key=lambda short: known[short.lower()])
        long = any(len(found.group()) >= LONG for found in STRETCHED.finditer(word))
        return versions[0] if long or (known and not self._is_joined(word, known)) else word

    @staticmethod
    def _is_joined(word: str, known: dict[str, float]) -> bool:
        """Whether a letter comes three times because one word ends and the next begins with it: Schifffahrt."""
        ends = [found.start() + 2 for found in STRETCHED.finditer(word) if len(found.group()) < LONG]
        return any(word[:end].lower() in known for end in ends)


def _composed(word: str) -> str:
    """Letters and their marks as one character, in scripts where both ways of writing are the same."""
    return unicodedata.normalize("NFC", word) if script(word[0]) in ALPHABETS else word


@cache
def _twins(name: str) -> dict[str, str]:
    """For letters of other scripts the letter of this script that is drawn the same way."""
    found = {}
    for letter, others in homoglyphs().items():
        if script(letter) != name and (mine := [one for one in others if script(one) == name and _is_usual(one)]):
            found[letter] = mine[0]
    for letter, others in homoglyphs().items():
        if script(letter) == name and _is_usual(letter):
            for other in others:
                found.setdefault(other, letter)
    return found


def _is_usual(letter: str) -> bool:
    """Whether languages of today write it: Latin letters are those of ASCII, with or without marks."""
    return (
        script(letter) != "Latin" or unicodedata.normalize("NFD", letter)[0].isascii() or letter in "ßøØæÆœŒłŁđĐðÐþÞı"
    )


def _unmixed(word: str, name: str) -> str:
    """A word with letters of several scripts, all in the text's own where each has its twin there; or all Latin.

    In Cyrillic and Greek text a word that keeps a letter only Latin has is a Latin name, and its look-alikes are Latin.
    """
    if word.isascii():
        return word
    letters = [char for char in word if char.isalpha()]
    foreign = [char for char in letters if script(char) != name]
    if not foreign or (name != "Latin" and ACRONYM_WITH_ENDING.fullmatch(word)):
        return word
    twins = _twins(name)
    if all(char in twins for char in foreign):
        if len(foreign) < len(letters) or _looks_like_a_short_word(letters, name):
            return "".join(char if script(char) == name else twins.get(char, char) for char in word)
    elif name != "Latin" and any(char.isascii() for char in letters):
        latin = _twins("Latin")
        odd = [char for char in letters if script(char) != "Latin"]
        if all(char in latin for char in odd) and 2 * len(odd) <= len(letters):
            return "".join(latin.get(char, char) if script(char) != "Latin" else char for char in word)
    return word


def _looks_like_a_short_word(letters: list[str], name: str) -> bool:
    """Whether letters, none of them of the text's script, are look-alikes throughout and no word of a script."""
    usual_latin = (
        name != "Latin" and any(script(letter) == "Latin" for letter in letters) and all(map(_is_usual, letters))
    )
    return len(letters) <= MOST_FOREIGN and not usual_latin


ACRONYM_WITH_ENDING = regex.compile(r"[A-Z]{2,}[[\p{Script=Cyrillic}\p{Script=Greek}]&&\p{Ll}]+", regex.VERSION1)
"""A Latin acronym with the ending of another script: `SMSка`."""
ALONE = regex.compile(r"(?<![\p{L}\p{N}.\-–/])[aceoyxi](?![\p{L}\p{N}.)\-–/'’])|^[ACEOYHTIKM](?= \p{Ll})")
"""A Latin letter that is a word by itself, or begins the text."""


def _single_letters(text: str, name: str) -> str:
    """In Cyrillic and Greek text, Latin letters that stand alone where words of one letter do."""
    if name == "Latin":
        return text
    twins = _twins(name)
    return str(ALONE.sub(lambda found: twins.get(found.group(), found.group()), text))
