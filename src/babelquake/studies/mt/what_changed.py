"""What changed between two translations of the same sentence, computed (Jwalapuram 2023 §5 did this by hand).

Each pair gets the first kind that fits, from harmless to harmful in reading order of `KINDS`.
"""

from collections import Counter

import regex

from babelquake.languages import Language
from babelquake.perturb.linguistics import by_lists
from babelquake.perturb.word_lists import word_lists
from babelquake.text import is_punctuation, is_unspaced, words

KINDS = {
    "identical": "the same translation",
    "surface": "only letter case, punctuation or spacing differs",
    "copied": "the source was copied instead of translated",
    "repetition": "a phrase is repeated over and over",
    "collapse": "less than half of the translation is left",
    "reordering": "the same words in another order",
    "negation": "a negation was gained or lost",
    "number": "a number changed",
    "name": "a name changed",
    "other": "other words",
}
NUMBER = regex.compile(r"\p{Nd}+(?:[.,:/\-]\p{Nd}+)*")
LOOP = regex.compile(r"\b(\w+(?:\W+\w+){0,9}?)(?:\W+\1\b){2,}")
LOOP_UNSPACED = regex.compile(r"(\w{2,30}?)\1{2,}")
STUTTER = regex.compile(r"(\p{L}{1,4}?)\1{7,}")
"""Letters that a decoder could not stop repeating inside a word."""

COLLAPSED = 0.5
REPEATED = 1.3
COPIED = 0.7


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


def _loops(text: str) -> bool:
    """Whether words, or stretches of a script without spaces, come three times in a row."""
    return bool((LOOP_UNSPACED if is_unspaced(text) else LOOP).search(text.casefold()))


def _negations(text: str, lang: Language | None) -> int:
    lists = word_lists(lang)
    return sum(lists.negation.find(word) is not None for word in words(text)) if lists else 0


def _names(text: str, lang: Language | None) -> Counter[str]:
    """Names by word lists alone: a tagger would take longer than the translations, and its presence change results."""
    return Counter(name.text.casefold() for name in by_lists(lang).names(text))
