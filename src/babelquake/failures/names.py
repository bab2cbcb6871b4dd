"""Names of people that got lost or changed between languages that share an alphabet.

Names of places, institutions and works are translated, so only people count: a known given name followed by another
capitalised word inside a sentence. One is lost when the translation has not even the beginning of either word, with
letters that languages exchange (c and k, ph and f) taken for equal.
"""

import re
import unicodedata
from functools import lru_cache

from babelquake.failures.base import Failure, detector
from babelquake.failures.pair import Pair, Side, remembered
from babelquake.paths import text_of_room

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
