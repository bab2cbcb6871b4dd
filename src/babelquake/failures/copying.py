"""Copying: nothing translated, the source given back, or parts of it left as they were."""

import re

from babelquake.failures.base import Failure, detector
from babelquake.failures.pair import Pair, Side

FEWEST = 4
"""Words that a source needs before its copy is a failure: names, titles and exclamations may stay."""
MOSTLY = 0.8
"""The share of the source's words, in runs, from which a translation counts as a copy."""
RUN, RUN_OF_PROSE = 5, 3
"""A run of untranslated words has so many, and so many of them are plain words of the source's language."""
IN_SOURCE_LANGUAGE = 3
"""Function words of the source's language outside the run from which nothing was translated: another kind, unless the
source has them too and the target's language is there."""
WORD_OR_BOUNDARY = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|[.:;!?\"„“”«»{}()\[\]]")


@detector("empty", family="copying", needs=("source",))
def empty(pair: Pair) -> Failure | None:
    """Nothing, or nothing but punctuation, where the source has words."""
    if any(map(str.isalnum, pair.translation.text[:50])):
        return None
    if pair.translation.words or any(map(str.isalnum, pair.translation.text)) or not pair.source.words:
        return None
    if pair.translation.text.strip() and (len(pair.source.words) < FEWEST or pair.translation.machinery):
        return None
    return Failure("empty", 1.0, pair.translation.text.strip()[:40] or "nothing")


@detector("copied", family="copying", needs=("source", "source language", "target language"))
def copied(pair: Pair) -> Failure | None:
    """The source was given back, whole or most of it, instead of a translation."""
    if not is_copy(pair):
        return None
    return Failure("copied", 1.0, pair.translation.text[:120], ((0, len(pair.translation.text)),))


@detector("untranslated", family="copying", needs=("source", "source language", "target language"))
def untranslated(pair: Pair) -> Failure | None:
    """A run of five or more words of the source was left as it was."""
    if not _may_share(pair) or is_copy(pair):
        return None
    made = _clauses(pair.translation, "|")
    lowered = [word.lower() for word in made]
    runs = shared_runs([word.lower() for word in _clauses(pair.source, "/")], lowered, RUN)
    runs = [run for run in runs if _is_prose(pair, made, run)]
    if not runs:
        return None
    inside = {place for start, length in runs for place in range(start, start + length)}
    outside = [word for place, word in enumerate(lowered) if place not in inside]
    if _foreign_words(pair, outside) >= IN_SOURCE_LANGUAGE:
        invented = [word for word in outside if word not in pair.source.vocabulary]
        if _foreign_words(pair, invented) >= IN_SOURCE_LANGUAGE or not speaks_target(pair):
            return None
    start, length = max(runs, key=lambda run: run[1])
    words = made[start : start + length]
    share = len(inside) / len(pair.translation.words)
    pattern = r"\W+".join(map(re.escape, words[:40]))
    place = re.search(pattern, pair.translation.text)
    return Failure("untranslated", share, " ".join(words)[:160], (place.span(),) if place else ())


def is_copy(pair: Pair) -> bool:
    """Whether a translation is its source again, in whole or for the most part."""
    if pair.copied is None:
        pair.copied = _is_copy(pair)
    return pair.copied


def _is_copy(pair: Pair) -> bool:
    source, made = pair.source, pair.translation
    if source.language is None or made.language is None or source.language.code == made.language.code:
        return False
    if not _may_share(pair) or len(source.words) < FEWEST:
        return False
    if len(made.words) > 2 * len(source.words):
        return False
    runs = shared_runs(source.words, made.words, min(3, FEWEST))
    kept = sum(length for _, length in runs)
    if kept < MOSTLY * len(source.words) or kept < MOSTLY * len(made.words):
        return False
    enough = 1 if source.words == made.words and len(made.words) >= RUN else 2
    return plain_words(source) >= RUN_OF_PROSE and _foreign_words(pair, made.words) >= enough


def _may_share(pair: Pair) -> bool:
    """A cheap first look: enough words in common, and one of them holds sentences of the source's language together."""
    lexicon = pair.source.lexicon
    shared = pair.source.vocabulary & pair.translation.vocabulary
    if len(shared) < RUN_OF_PROSE:
        return False
    return lexicon is None or not lexicon.function_words or not lexicon.function_words.isdisjoint(shared)


def shared_runs(source: list[str], made: list[str], shortest: int) -> list[tuple[int, int]]:
    """Runs of words of a translation that stand in the source in the same order: start in the translation and length.

    Greedy from left to right, by the source's n-grams of the shortest length.
    """
    places: dict[tuple[str, ...], int] = {}
    for place in range(len(source) - shortest + 1):
        places.setdefault(tuple(source[place : place + shortest]), place)
    if not places:
        return []
    runs, at, last = [], 0, len(made) - shortest
    while at <= last:
        found = places.get(tuple(made[at : at + shortest]))
        if found is None:
            at += 1
            continue
        length = shortest
        while at + length < len(made) and found + length < len(source) and made[at + length] == source[found + length]:
            length += 1
        runs.append((at, length))
        at += length
    return runs


def plain_words(side: Side) -> int:
    """Words that are neither names nor shouted: written in lower case, of two letters or more."""
    return sum(len(word) > 1 and word.islower() for word in side.written)


def _clauses(side: Side, boundary: str) -> list[str]:
    """The words as they are written, with a sign at each boundary of clauses and quotations, where runs end."""
    return [word if word[0].isalpha() else boundary for word in WORD_OR_BOUNDARY.findall(side.prose)]


def _is_prose(pair: Pair, made: list[str], run: tuple[int, int]) -> bool:
    """Whether a run is language that had to be translated: plain words, some of the source's language alone."""
    start, length = run
    words = made[start : start + length]
    if sum(len(word) > 1 and word.islower() for word in words) < RUN_OF_PROSE:
        return False
    return _foreign_words(pair, [word.lower() for word in words]) >= 1


def _foreign_words(pair: Pair, words: list[str]) -> int:
    """How many function words of the source's language, which the target does not have, are among these."""
    ours, theirs = pair.source.lexicon, pair.translation.lexicon
    if ours is None or not ours.function_words:
        return len(words)
    theirs_too = theirs.function_words if theirs is not None else frozenset()
    return sum(word in ours.function_words and word not in theirs_too for word in words)


def speaks_target(pair: Pair) -> bool:
    """Whether function words of the language asked for stand in a translation: then only parts are in the source's."""
    ours, theirs = pair.source.lexicon, pair.translation.lexicon
    if theirs is None or not theirs.function_words:
        return False
    own = theirs.function_words - pair.source.vocabulary - (ours.function_words if ours else frozenset())
    found = own & pair.translation.vocabulary
    return len(found) >= 2 or any(len(word) > 3 for word in found)
