"""What changed between two translations of the same sentence, computed (Jwalapuram 2023 §5 did this by hand).

Each pair gets the first kind that fits, from harmless to harmful in reading order of `KINDS`.
"""

from collections import Counter

import regex

from babelquake.languages import Language
from babelquake.perturb.linguistics import by_lists
from babelquake.perturb.word_lists import word_lists
from babelquake.text import is_punctuation, is_unspaced, script, words

KINDS = {
    "identical": "the same translation",
    "surface": "only letter case, punctuation or spacing differs",
    "copied": "the source was copied instead of translated, letter by letter or with mistakes",
    "garbled": "unknown characters, or letters of a script that the translation did not have",
    "repetition": "a phrase is repeated over and over",
    "collapse": "less than half of the translation is left",
    "reordering": "the same words in another order",
    "negation": "a negation was gained or lost",
    "number": "a number changed",
    "name": "a name changed",
    "other": "other words",
}
LABELS = {
    "copied": "not translated",
    "garbled": "gibberish",
    "repetition": "repeats itself",
    "collapse": "text missing",
    "negation": "negation changed",
    "number": "number changed",
    "name": "name changed",
}
"""Kinds that are worth a word beside an example."""
NUMBER = regex.compile(r"\p{Nd}+(?:[.,:/\-]\p{Nd}+)*")
LOOP = regex.compile(r"\b(\w+(?:\W+\w+){0,9}?)(?:\W+\1\b){2,}")
LOOP_UNSPACED = regex.compile(r"(\w{2,30}?)\1{2,}")
STUTTER = regex.compile(r"(\p{L}{1,4}?)\1{7,}")
"""Letters that a decoder could not stop repeating inside a word."""

COLLAPSED = 0.5
REPEATED = 1.3
COPIED = 0.7
COPIED_LETTERS = 0.5
"""The share of a translation's letters, three by three, that a copy with mistakes has from the source."""
UNKNOWN = regex.compile(r"[\u2047\ufffd]|<unk>")
"""What models write for characters they do not know."""


class _Plain(dict[int, str]):
    """What is left of a character when only words count; each is looked at once."""

    def __missing__(self, point: int) -> str:
        char = chr(point)
        self[point] = " " if char.isspace() else "" if is_punctuation(char) else char
        return self[point]


PLAIN = _Plain()


def kind_of_change(clean: str, perturbed: str, source: str, lang: Language | None = None) -> str:
    """How `perturbed`, the translation of the perturbed `source`, differs from `clean`; a key of `KINDS`."""
    if perturbed == clean:
        return "identical"
    before, after = _plain_words(clean), _plain_words(perturbed)
    if "".join(before) == "".join(after):
        return "surface"
    if _is_copy(after, source) and not _is_copy(before, source):
        return "copied"
    if _is_nearer(perturbed, source, clean):
        return "copied"
    if _is_garbled(perturbed, clean):
        return "garbled"
    if len(perturbed) > REPEATED * len(clean) and _loops(perturbed) and not _loops(clean):
        return "repetition"
    if STUTTER.search(perturbed) and not STUTTER.search(clean):
        return "repetition"
    if len(after) < COLLAPSED * len(before):
        return "collapse"
    if sorted(before) == sorted(after):
        return "reordering"
    if _negations(clean, lang) != _negations(perturbed, lang):
        return "negation"
    if Counter(NUMBER.findall(clean)) != Counter(NUMBER.findall(perturbed)):
        return "number"
    if _names(clean, lang) != _names(perturbed, lang):
        return "name"
    return "other"


def _plain_words(text: str) -> list[str]:
    """Lower-case words without punctuation; single characters where no spaces part words."""
    if is_unspaced(text):
        return [char for char in text.casefold() if not char.isspace() and not is_punctuation(char)]
    return text.casefold().translate(PLAIN).split()


def _is_copy(after: list[str], source: str) -> bool:
    of_source = Counter(_plain_words(source))
    shared = sum((Counter(after) & of_source).values())
    return len(after) >= 3 and shared >= COPIED * max(len(after), of_source.total())


def _is_nearer(translation: str, source: str, clean: str) -> bool:
    """Whether a translation is made of the source's letters rather than of the clean translation's."""
    own, of_source, of_clean = map(_threes, (translation, source, clean))
    from_source, from_clean = ((own & other).total() for other in (of_source, of_clean))
    return from_source >= COPIED_LETTERS * max(own.total(), 1) and from_source > from_clean + own.total() / 10


def _threes(text: str) -> Counter[str]:
    """Three letters in a row, whatever their case."""
    letters = "".join(_plain_words(text))
    return Counter(letters[place : place + 3] for place in range(len(letters) - 2))


def _is_garbled(translation: str, clean: str) -> bool:
    if UNKNOWN.search(translation) and not UNKNOWN.search(clean):
        return True
    return not translation.isascii() and not _scripts(translation) <= _scripts(clean) | {""}


def _scripts(text: str) -> set[str]:
    return {script(char) for char in text if char.isalpha()}


def _loops(text: str) -> bool:
    """Whether words, or stretches of a script without spaces, come three times in a row."""
    return bool((LOOP_UNSPACED if is_unspaced(text) else LOOP).search(text.casefold()))


def _negations(text: str, lang: Language | None) -> int:
    lists = word_lists(lang)
    return sum(lists.negation.find(word) is not None for word in words(text)) if lists else 0


def _names(text: str, lang: Language | None) -> Counter[str]:
    """Names by word lists alone: a tagger would take longer than the translations, and its presence change results."""
    return Counter(name.text.casefold() for name in by_lists(lang).names(text))
