"""Negation: the source denies something and the translation does not, or the other way round.

Languages deny with words, endings and other verbs, and say "easy" for "not hard", so only plain cases are judged. Lost:
a text with one negated verb that does not ask, has nothing else to weigh, and a translation of ordinary length without
anything that could deny. Gained: one negated verb in the translation of a text without anything that could deny, be
misspelt for it, or be said by denying the opposite.

Names of places, institutions and works are translated, so only people count: a known given name followed by another
capitalised word inside a sentence. One is lost when the translation has not even the beginning of either word, with
letters that languages exchange (c and k, ph and f) taken for equal.
"""

import re
import unicodedata
from functools import lru_cache

from rapidfuzz.distance import OSA

from babelquake.failures.base import Failure, detector
from babelquake.failures.lengths import relative_length
from babelquake.failures.pair import Pair, Side, remembered
from babelquake.paths import text_of_room

SERVED = ("cs", "de", "en", "es", "fr")
"""Target languages whose ways to deny are listed."""
FEWEST_WORDS = 5
"""Of a source before a denial counts as gained."""
APOSTROPHE = re.compile(r"['’]")
MOSTLY_SOURCE = 0.3
"""The share of the source's words from which a translation was hardly translated, the negation included."""
SHORTEST, LONGEST = 0.6, 1.6
"""The relative lengths between which a translation neither lost nor gained more than its negation."""


@detector("negation", family="content", needs=("source", "source language", "target language"), languages=SERVED)
def negation(pair: Pair) -> Failure | None:
    """The source denies something and nothing in the translation does, or the translation alone denies something."""
    return _lost(pair) or _gained(pair)


def _gained(pair: Pair) -> Failure | None:
    """The only negated verb of a translation whose source has nothing that denies."""
    theirs = pair.translation.lexicon
    unless = theirs.pattern("unless_gained") if theirs is not None else None
    if theirs is None or unless is None:
        return None
    denials = theirs.gained & pair.translation.vocabulary
    if len(denials) != 1 or len(pair.source.words) < FEWEST_WORDS or not SHORTEST <= relative_length(pair) <= LONGEST:
        return None
    (word,) = denials
    if pair.translation.words.count(word) != 1 or unless.search(pair.translation.prose) or not _is_plain(pair.source):
        return None
    place = re.search(rf"\b{re.escape(word)}\b", pair.translation.text, re.IGNORECASE)
    return Failure("negation", 1.0, f"gained: {word}", (place.span(),) if place else ())


@remembered
def _is_plain(side: Side) -> bool:
    """Whether nothing in a source could deny, not even a misspelt negation or one in look-alike letters."""
    may_deny = side.lexicon.pattern("may_deny") if side.lexicon is not None else None
    if side.lexicon is None or may_deny is None or not side.is_latin or may_deny.search(side.prose):
        return False
    return not _misspelt_denial(side, side.lexicon.negative)


def _misspelt_denial(side: Side, negative: frozenset[str]) -> bool:
    """Whether a word is a negation, or an edit or two from one: "ncht" is most likely "nicht"."""
    if not side.vocabulary.isdisjoint(negative):
        return True
    return any(
        OSA.distance(word, denial, score_cutoff=edits) <= edits
        for denial in negative
        if len(denial) > 3  # "to" is not a misspelt "no"
        for edits in (2 if len(denial) > 5 else 1,)
        for word in side.vocabulary
        if abs(len(word) - len(denial)) <= edits
    )


def _lost(pair: Pair) -> Failure | None:
    """The negated verb of a source whose translation has nothing that denies."""
    theirs, found = pair.translation.lexicon, _denial(pair.source)
    if theirs is None or not found or relative_length(pair) < SHORTEST:
        return None
    vocabulary = pair.translation.vocabulary
    if not vocabulary.isdisjoint(theirs.negative) or any(
        word.replace("’", "'").startswith(theirs.negative_starts) and not word.startswith(theirs.plain_starts)
        for word in vocabulary - theirs.plain
    ):
        return None
    if _stripped(found) in _stripped(pair.translation.text) or _stands_in(found.split()[-1].lower(), vocabulary):
        return None
    if len(vocabulary & pair.source.vocabulary) > MOSTLY_SOURCE * len(vocabulary):
        return None
    if any(not theirs.negative.isdisjoint(APOSTROPHE.split(word)) for word in vocabulary if not word.isalpha()):
        return None
    return Failure("negation", 1.0, f"lost: {found}")


def _stands_in(word: str, vocabulary: frozenset[str]) -> bool:
    """Whether a word of the source was left as it was, or with one letter wrong."""
    return word in vocabulary or (len(word) > 3 and any(OSA.distance(word, other) <= 1 for other in vocabulary))


def _may_deny(side: Side) -> bool:
    """A cheap first look."""
    prose = side.prose.lower()
    return "n't" in prose or "n’t" in prose or not side.vocabulary.isdisjoint(DENIALS)


DENIALS = frozenset(
    ("not", "never", "cannot", "cant", "wont", "can't", "can’t", "won't", "won’t", "nicht", "nie", "niemals")
)


def _stripped(text: str) -> str:
    return APOSTROPHE.sub("", text.lower())


@remembered
def _denial(side: Side) -> str:
    """The negated verb of a plain sentence; empty where there is none, or more than one, or anything else to weigh."""
    lexicon = side.lexicon
    if (
        lexicon is None
        or not _may_deny(side)
        or "?" in side.prose
        or not lexicon.unless_words.isdisjoint(side.vocabulary)
    ):
        return ""
    denies, figures, unless = map(lexicon.pattern, ("denies", "figures", "unless"))
    if denies is None or figures is None or unless is None:
        return ""
    matches = denies.findall(side.prose)
    if len(matches) != 1 or figures.search(side.prose) or unless.search(denies.sub(" ", side.prose)):
        return ""
    return str(matches[0])


LATIN = tuple("cs da de en es et fi fr hr hu it nl no pl pt ro sk sl sv".split())  # noqa: SIM905
CAPITALISED = re.compile(
    r"(?<![.!?:…\"“„«] )(?<!^)\b([^\W\d_a-zß-ÿ][^\W\d_A-Z]{2,}) ([^\W\d_a-zß-ÿ][^\W\d_A-Z]{3,})\b"
    r"(?![-'’]| [^\W\d_a-zß-ÿ])"
)
BEGINNING = 3
"""Letters of a name that have to be found."""
EXCHANGED = str.maketrans({"c": "k", "q": "k", "w": "v", "y": "i", "j": "i", "z": "s", "x": "k"})


@lru_cache(maxsize=1)
def given_names() -> frozenset[str]:
    """Common given names, in lower case."""
    return frozenset(text_of_room("failures", "words/given_names.txt").split())


@remembered
def people(side: Side) -> list[tuple[str, str]]:
    """Given and family names of people inside sentences; none in a text of titles."""
    known = given_names()
    if known.isdisjoint(side.vocabulary):
        return []
    found = CAPITALISED.findall(side.prose)
    return [(first, last) for first, last in found if first.lower() in known and last.lower() not in known]


@lru_cache(maxsize=65_536)
def folded(text: str) -> str:
    """A text without accents and letter case, letters that languages exchange written alike."""
    plain = "".join(char for char in unicodedata.normalize("NFD", text.casefold()) if not unicodedata.combining(char))
    return plain.replace("ch", "k").replace("ph", "f").replace("th", "t").translate(EXCHANGED)


@detector("name", family="content", needs=("source", "source language", "target language"), languages=LATIN)
def name(pair: Pair) -> Failure | None:
    """A person named in the source is not in the translation, in any form."""
    wanted = people(pair.source)
    if not wanted:
        return None
    text = folded(pair.translation.text)
    lost = [" ".join(full) for full in wanted if not any(folded(part)[:BEGINNING] in text for part in full)]
    return Failure("name", len(lost) / len(wanted), "lost: " + ", ".join(lost[:5])) if lost else None
