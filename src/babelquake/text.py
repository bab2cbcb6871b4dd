"""Text as people see it: graphemes, words that can be put back together, scripts, casing, sentence ends."""

import hashlib
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

import regex

from babelquake.languages import Language

GRAPHEME = regex.compile(r"\X")
WORD = regex.compile(r"[\p{L}\p{N}][\p{L}\p{N}\p{M}\u200c\u200d]*(?:['’\-][\p{L}\p{N}][\p{L}\p{N}\p{M}\u200c\u200d]*)*")
TOKEN = regex.compile(r"\S+")
UNSPACED = regex.compile(
    r"[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}"
    r"\p{Script=Myanmar}\p{Script=Tibetan}ー]"
)
NOT_ASCII = regex.compile(r"[^\x00-\x7f]")
NOT_ASCII_LETTERS = bytes(code for code in range(128) if not chr(code).isalpha())
CLOSING = "\"'”’»›)]}」』）】〉》“"
"""Marks that may follow the sentence-final mark: closing quotes and brackets."""
INNER_SPACES = " \u00a0\u202f"
"""What may stand between the final mark and a closing quote: French writes `« Oui. »`."""

SCRIPTS = (
    "Latin",
    "Cyrillic",
    "Greek",
    "Arabic",
    "Hebrew",
    "Devanagari",
    "Bengali",
    "Han",
    "Hiragana",
    "Katakana",
    "Hangul",
    "Thai",
    "Armenian",
    "Georgian",
    "Ethiopic",
    "Tamil",
    "Telugu",
    "Gujarati",
    "Gurmukhi",
    "Kannada",
    "Malayalam",
    "Sinhala",
    "Myanmar",
    "Khmer",
    "Lao",
    "Tibetan",
    "Oriya",
)
SCRIPT = regex.compile("|".join(rf"(?P<{name}>\p{{Script={name}}})" for name in SCRIPTS))

FULL_STOPS, EXCLAMATIONS, QUESTIONS = "stop", "exclamation", "question"
MARKS: dict[str, dict[str, str]] = {
    "Latin": {FULL_STOPS: ".", EXCLAMATIONS: "!", QUESTIONS: "?"},
    "Han": {FULL_STOPS: "。", EXCLAMATIONS: "！", QUESTIONS: "？"},
    "Arabic": {FULL_STOPS: ".", EXCLAMATIONS: "!", QUESTIONS: "؟"},
    "Devanagari": {FULL_STOPS: "।", EXCLAMATIONS: "!", QUESTIONS: "?"},
    "Greek": {FULL_STOPS: ".", EXCLAMATIONS: "!", QUESTIONS: "\u003b"},
    "Armenian": {FULL_STOPS: "։", EXCLAMATIONS: "՜", QUESTIONS: "՞"},
    "Ethiopic": {FULL_STOPS: "።", EXCLAMATIONS: "!", QUESTIONS: "፧"},
    "Myanmar": {FULL_STOPS: "။", EXCLAMATIONS: "!", QUESTIONS: "?"},
    "Khmer": {FULL_STOPS: "។", EXCLAMATIONS: "!", QUESTIONS: "?"},
    "Tibetan": {FULL_STOPS: "།", EXCLAMATIONS: "!", QUESTIONS: "?"},
}
"""The sentence-final marks of each script; scripts not named here use Latin's."""
MARKS_OF = {
    **dict.fromkeys(("ja", "zh", "yue"), "Han"),
    **dict.fromkeys(("ar", "fa", "ps", "ckb", "sd", "ug"), "Arabic"),
    **dict.fromkeys(("hi", "ne", "sa", "mai", "bho", "bn", "as", "pa", "or"), "Devanagari"),
    "el": "Greek",
    "hy": "Armenian",
    **dict.fromkeys(("am", "ti"), "Ethiopic"),
    "my": "Myanmar",
    "km": "Khmer",
    "bo": "Tibetan",
}
"""Languages whose final marks are not Latin's, and the script whose marks they use."""
SAME_MARKS = {
    "Hiragana": "Han",
    "Katakana": "Han",
    "Bengali": "Devanagari",
    "Gurmukhi": "Devanagari",
    "Oriya": "Devanagari",
}
KIND_OF_MARK = {
    **dict.fromkeys(".。．｡।॥։።။។།۔", FULL_STOPS),
    **dict.fromkeys("!！՜﹗", EXCLAMATIONS),
    **dict.fromkeys("?？؟\u037e՞፧﹖", QUESTIONS),
}
FINAL_PUNCTUATION = frozenset(KIND_OF_MARK) | frozenset("…‥⁇⁈⁉‽:;,、，；：-–—~")


class Span(NamedTuple):
    """A stretch of a text: `text[start:end]`."""

    start: int
    end: int
    text: str


class Ending(NamedTuple):
    """A text taken apart at its sentence end: `body + space + mark + closing + tail` is the text again."""

    body: str
    space: str
    mark: str
    closing: str
    tail: str

    @property
    def kind(self) -> str:
        """`stop`, `exclamation`, `question`, `other` (a colon, dash, ellipsis …) or `none`; Greek asks with `;`."""
        if self.mark == ";" and main_script(self.body) == "Greek":
            return QUESTIONS
        return (KIND_OF_MARK.get(self.mark) or "other") if self.mark else "none"


def graphemes(text: str) -> list[str]:
    """User-perceived characters: combining marks, emoji sequences and flags stay whole."""
    return list(text) if text.isascii() and "\r" not in text else GRAPHEME.findall(text)


def words(text: str) -> list[Span]:
    """Words without surrounding punctuation; inner apostrophes and hyphens belong to the word."""
    return list(_words(text))


@lru_cache(maxsize=256)
def _words(text: str) -> tuple[Span, ...]:
    """Remembered: a study changes one text in many ways, each of which begins with its words."""
    return tuple(Span(found.start(), found.end(), found.group()) for found in WORD.finditer(text))


def tokens(text: str) -> list[Span]:
    """Stretches between white space."""
    return [Span(found.start(), found.end(), found.group()) for found in TOKEN.finditer(text)]


def replaced(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """The text with spans replaced; edits are (start, end, new text), ascending and not overlapping."""
    pieces, position = [], 0
    for start, end, new in edits:
        pieces += [text[position:start], new]
        position = end
    pieces.append(text[position:])
    return "".join(pieces)


def without(text: str, spans: Iterable[Span]) -> str:
    """The text less some words, and less the white space that each of them leaves behind.

    One neighbouring space goes with each word: the one after it at the start of the text, otherwise the one before it.
    """
    edits: list[tuple[int, int, str]] = []
    for span in spans:
        start, end = span.start, span.end
        before, after = text[start - 1 : start], text[end : end + 1]
        if before.isspace() and (not after or after.isspace() or not after.isalnum()):
            start -= 1
        elif after.isspace() and (start == 0 or not before.isalnum()):
            end += 1
        if edits and start < edits[-1][1]:
            start = edits[-1][1]
        edits.append((start, end, ""))
    return replaced(text, edits)


@lru_cache(maxsize=65536)
def script(char: str) -> str:
    """The script of a character, or the empty string for digits, punctuation and scripts not listed."""
    found = SCRIPT.match(char)
    return str(found.lastgroup) if found else ""


def main_script(text: str) -> str:
    """The script most letters belong to; empty when there is none."""
    if text.isascii():
        return "Latin" if any(map(str.isalpha, text)) else ""
    plain = text.encode("ascii", "ignore").translate(None, NOT_ASCII_LETTERS)
    counts: dict[str, int] = {"Latin": len(plain)} if plain else {}
    for char in NOT_ASCII.findall(text):
        if name := script(char):
            counts[name] = counts.get(name, 0) + 1
    return max(counts, key=lambda name: counts[name]) if counts else ""


def is_unspaced(text: str) -> bool:
    """Whether most letters belong to a script that puts no spaces between words."""
    if text.isascii():
        return False
    unspaced = len(UNSPACED.findall(text))
    return unspaced > 0 and 2 * unspaced >= sum(map(str.isalpha, text))


def is_whole(text: str) -> bool:
    """Whether the text holds whole characters only: no lone surrogate, which no file can hold."""
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


def has_case(text: str) -> bool:
    """Whether upper and lower case can be told apart anywhere in the text."""
    return any(char.upper() != char or char.lower() != char for char in text if not char.isspace())


def is_punctuation(char: str) -> bool:
    """Punctuation in Unicode's sense, and ASCII's symbols as Python's `string.punctuation` counts them."""
    return unicodedata.category(char)[0] == "P" or char in "$+<=>^`|~"


def final_marks(text: str, lang: Language | None = None) -> dict[str, str]:
    """The full stop, exclamation and question mark of a language; of the text's script where the language is unknown.

    Hindi, Bengali, Nepali and their kin write the danda; Chinese and Japanese the ideographic marks, also after a
    sentence that is mostly Latin letters; Greek asks with `;`; Arabic with `؟`. Urdu's own full stop is `۔`.
    """
    if lang is None:
        name = main_script(text)
        return MARKS.get(SAME_MARKS.get(name, name), MARKS["Latin"])
    if lang.code == "ur":
        return {**MARKS["Arabic"], FULL_STOPS: "۔"}
    return MARKS[MARKS_OF.get(lang.code, "Latin")]


def ending(text: str) -> Ending:
    """Take a text apart at its sentence end, seeing through closing quotes and trailing white space."""
    rest = text.rstrip()
    tail = text[len(rest) :]
    inner = rest.rstrip(CLOSING + INNER_SPACES)
    closing = rest[len(inner) :]
    if inner and inner[-1] in FINAL_PUNCTUATION:
        mark = inner[-1]
        body = inner[:-1]
        if mark == "." and body.endswith(".."):
            body, mark = body[:-2], "..."
        bare = body.rstrip()
        return Ending(bare, body[len(bare) :], mark, closing, tail)
    return Ending(rest, "", "", "", tail)


def ends_in_word(text: str) -> bool:
    """Whether a letter, a digit or a mark on a letter ends the text."""
    return unicodedata.category(text[-1])[0] in "LNM" if text else False


def title(word: str) -> str:
    """First letter upper case, the rest lower case, digraphs and apostrophes left whole."""
    return word[:1].title() + word[1:].lower()


def match_case(word: str, like: str) -> str:
    """Give a replacement the casing of the word it replaces."""
    if len(like) > 1 and like.isupper():
        return word.upper()
    return (
        title(word) if (like[:1].isupper() and like[1:].islower()) or (like[:1].isupper() and len(like) == 1) else word
    )


def map_words(text: str, change: Callable[[str], str | None]) -> str:
    """Change each word on its own; None leaves it as it is."""
    return str(WORD.sub(lambda found: new if (new := change(found.group())) is not None else found.group(), text))


def digest(texts: Iterable[str | None], length: int = 12) -> str:
    """A short hash of a list of texts, sensitive to order and to where one text ends and the next begins."""
    state = hashlib.blake2b(digest_size=16)
    for text in texts:
        data = b"\xff" if text is None else text.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()[:length]
