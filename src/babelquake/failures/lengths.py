"""Length: far more or far less text than a translation between two languages has, and words said again and again.

Loops are the oscillatory hallucinations of Raunak et al. (2021).
"""

import re
from collections import Counter
from operator import eq

from babelquake.failures.base import Failure, detector
from babelquake.failures.pair import Pair, Side
from babelquake.languages import Language
from babelquake.paths import table_of_room
from babelquake.text import is_unspaced

OF_ENGLISH: dict[str, float] = table_of_room("failures", "languages")["length"]
"""Characters of a language for one of English: medians over NTREX-128's 1,997 sentences."""
RUNAWAY, TRUNCATED = 2.4, 0.4
"""Times the usual length from which, and to which, a length is a failure; NTREX's extremes of 1,997 are 0.5 and 2.3."""
SHORTEST_SOURCE = 50
LEAST_TOO_MUCH = 60
"""Characters beyond the usual length that a runaway has at least: short texts vary."""


def usual_ratio(source: Language | None, target: Language | None) -> float | None:
    """Characters of a translation for one of its source; None for a language without a figure."""
    if source is None or target is None or source.code not in OF_ENGLISH or target.code not in OF_ENGLISH:
        return None
    return OF_ENGLISH[target.code] / OF_ENGLISH[source.code]


def relative_length(pair: Pair) -> float:
    """The length of a translation for one of the usual length; 1 where that is not known."""
    usual = usual_ratio(pair.source.language, pair.translation.language)
    if usual is None or not pair.source.whole:
        return 1.0
    return len(pair.translation.whole) / (usual * len(pair.source.whole))


LANGUAGES = tuple(OF_ENGLISH)


@detector("runaway", family="length", needs=("source", "source language", "target language"), languages=LANGUAGES)
def runaway(pair: Pair) -> Failure | None:
    """More than 2.4 times as long as translations between these languages are."""
    usual = usual_ratio(pair.source.language, pair.translation.language)
    if usual is None or not pair.source.words:
        return None
    expected = usual * len(pair.source.whole)
    length = len(pair.translation.whole)
    if length < RUNAWAY * expected or length - expected < LEAST_TOO_MUCH:
        return None
    return Failure("runaway", min(1.0, 1 - expected / length), f"{length} characters where {expected:.0f} are usual")


@detector("truncated", family="length", needs=("source", "source language", "target language"), languages=LANGUAGES)
def truncated(pair: Pair) -> Failure | None:
    """Less than 0.4 times as long as translations between these languages are."""
    usual = usual_ratio(pair.source.language, pair.translation.language)
    source = pair.source.whole
    if usual is None or len(source) < SHORTEST_SOURCE:
        return None
    length = len(pair.translation.whole.strip())
    if length > TRUNCATED * usual * len(source) or not length:
        return None
    expected = usual * len(pair.source.prose.strip())
    if length > TRUNCATED * expected or _is_padded(pair):
        return None
    return Failure("truncated", 1 - length / expected, f"{length} characters where {expected:.0f} are usual")


def _is_padded(pair: Pair) -> bool:
    """Whether much of the source is not a language: repeated signs, numbers, a long laugh."""
    letters = sum(map(len, pair.source.words))
    distinct = sum(map(len, pair.source.vocabulary))
    return letters < 0.5 * len(pair.source.whole) or distinct < 0.5 * letters


FLAGGED = 0.75
"""The score from which a translation counts as looping."""
STUTTER = re.compile(r"([^\W\d_]{2,12}?)\1{5,}|([^\W\d_])\2{19,}")
"""A stretch inside a word that a decoder could not stop repeating."""
LONG_WORD = 24


def repetition(pair: Pair) -> float:
    """How much of a translation is repetition beyond the source's own: 0 for none, above 2 for a pure loop.

    The shares of words, word pairs and triples that have been said before, each less the source's.
    """
    source, made = _units(pair.source), _units(pair.translation)
    if not made:
        return 0.0
    own = max(1, len(source))
    score = max(0.0, _again(made, 1) / len(made) - _again(source, 1) / own)
    for order in (2, 3):
        score += max(0, _again(made, order) - _again(source, order)) / len(made)
    return score


@detector("loop", family="repetition", needs=("source",), paper="Raunak 2021 §3", score=repetition)
def loop(pair: Pair) -> Failure | None:
    """Words or phrases are repeated over and over, more than in the source."""
    made = pair.translation
    if len(made.words) - len(made.vocabulary) < 4:
        return _stutter(pair) if made.words and len(max(made.words, key=len)) >= LONG_WORD else None
    pairs = set(zip(made.words, made.words[1:], strict=False))
    row = longest_row(made.words) if len(made.words) - 1 - len(pairs) >= 3 else None
    if row is not None:
        length, times, start = row
        if times > 1 + 2 * _times_in_source(pair, made.words[start : start + length]):
            score = repetition(pair)
            if score >= FLAGGED or length * times >= ROW[length] * length:
                phrase = " ".join(made.written[start : start + length])
                return Failure("loop", min(1.0, score), f"{phrase[:100]} (repeated {times} times)")
    return _stutter(pair) if len(max(made.words, key=len)) >= LONG_WORD else None


ROW = {1: 5, 2: 4, 3: 3, 4: 3, 5: 3, 6: 3, 7: 3, 8: 3}
"""How often in a row, by the number of words, is beyond what people write for emphasis."""


def longest_row(words: list[str]) -> tuple[int, int, int] | None:
    """The phrase that is repeated most in a row: its words, how often, and where it starts; None for no such row."""
    best: tuple[int, int, int] | None = None
    for length, least in ROW.items():
        if b"\x01" * (length * (least - 1)) not in bytes(map(eq, words, words[length:])):
            continue
        matching, at = 0, length
        while at < len(words):
            matching = matching + 1 if words[at] == words[at - length] else 0
            times = matching // length + 1
            if times >= least and (best is None or length * times > best[0] * best[1]):
                best = (length, times, at - length * times + 1)
            at += 1
    return best


def _times_in_source(pair: Pair, phrase: list[str]) -> int:
    """How often the source repeats something in a row that is as long."""
    row = longest_row(pair.source.words)
    return row[1] if row is not None and row[0] <= len(phrase) + 1 else 0


def _units(side: Side) -> list[str]:
    if not side.text.isascii() and is_unspaced(side.text):
        return [char for char in side.prose if char.isalnum()]
    return side.words


def _again(units: list[str], order: int) -> int:
    if order == 1:
        return len(units) - len(set(units))
    runs = Counter(zip(*(units[place:] for place in range(order)), strict=False))
    return sum(runs.values()) - len(runs)


def _stutter(pair: Pair) -> Failure | None:
    found = STUTTER.search(pair.translation.prose)
    if found is None or STUTTER.search(pair.source.prose):
        return None
    return Failure("loop", 1.0, found.group()[:80])
