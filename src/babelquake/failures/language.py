"""Language: a translation in another language than asked, in the source's, in two, or in a foreign script; or a copy.

The language is told by py3langid, a naive Bayes identifier over bytes with 139 languages, which ships its model and
needs NumPy only. It is asked about prose: machinery, @names, #tags and numbers do not count, and a suspicion has to
hold without capitalised words, which may be names. Short texts, and languages it does not know, are not judged. Copies
and untranslated parts are told by the words of the source alone.
"""

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Any

from babelquake.failures.base import Failure, detector
from babelquake.failures.pair import Pair, Side
from babelquake.languages import Language
from babelquake.paths import table_of_room
from babelquake.text import SCRIPT, UNSPACED

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
    if plain_words(source) < RUN_OF_PROSE:
        return False
    if source.shouted:
        return _foreign_words(pair, made.vocabulary) >= IN_SOURCE_LANGUAGE
    enough = 1 if source.words == made.words and len(made.words) >= RUN else 2
    return _foreign_words(pair, made.words) >= enough


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
    """Words of two letters or more that are no names: in lower case, where capitals tell names."""
    return sum(len(word) > 1 and (side.shouted or word.islower()) for word in side.written)


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


def _foreign_words(pair: Pair, words: Collection[str]) -> int:
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


SHORTEST = 28
"""Letters below which the identifier is not asked; a character of an unspaced script counts as three."""
SHORTEST_PART = 40
SURE, NOT_ASKED = 0.9, 0.02
"""The least probability of the other language and the largest of the one asked for."""
SURE_OF_RELATIVE = 0.985
RELATIVES = [frozenset(some.split()) for some in table_of_room("failures", "languages")["relatives"]]
"""Languages that are mistaken for one another; between these the identifier has to be surer."""
NOISE = re.compile(r"[@#]\w+|(?<!\S)(?=\S*\d)\S+|\b[a-z]+(?:_[a-z]+)+|&\w{1,10};")
NAME = re.compile(r"(?<=[^\W\d_])(?<![.!?…]) +[^\W\d_a-zß-ÿ][\w'’-]*")
SENTENCE = re.compile(r"(?<=[.!?…。！？])[\"'”“»)]*\s+|\n+|(?<=[。！？])")
NOT_PLAIN = re.compile(r"[^\x00-\u024f\u0300-\u036f\u1e00-\u1eff\u2000-\u2bff\ufe00-\ufe0f\U0001f000-\U0001ffff]")
"""A first look: characters that are neither Latin letters nor punctuation, symbols or emoji."""
SCRIPTS = {code: set(some.split()) for code, some in table_of_room("failures", "languages")["scripts"].items()}
"""Scripts of languages that are not written in Latin letters."""
WITHOUT_ASKING = frozenset({"Latin", "Greek"})
"""Names and formulas are written in these everywhere."""


ALIEN = {
    "uk": ("ru", re.compile(r"\w*[ыэъё]\w*", re.IGNORECASE), re.compile("[іїєґ]", re.IGNORECASE)),
    "ru": ("uk", re.compile(r"\w*[іїєґ]\w*", re.IGNORECASE), re.compile("[ыэъё]", re.IGNORECASE)),
    "ja": ("zh", re.compile("[\u4e00-\u9fff]"), re.compile("[\u3040-\u30ff]")),
}
"""By the language asked for: one that is mistaken for it, what only that one has, and what the one asked for needs."""
ALIEN_WORDS = {"uk": 2, "ru": 2, "ja": 20}
"""How many of these there have to be, and none of the others: Japanese writes a headline in Han alone, no sentence."""


@lru_cache(maxsize=1)
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def close_identifier() -> None:
    """Free the identifier's 80 MB; it is loaded again when it is asked."""
    _identifier.cache_clear()


@lru_cache(maxsize=1)
def _columns() -> dict[str, int]:
    """The first column of each language that the identifier knows."""
    found: dict[str, int] = {}
    for column, label in enumerate(_identifier().nb_classes):
        found.setdefault(str(label), column)
    return found


def knows(language: Language | None) -> bool:
    """Whether the identifier knows a language."""
    return language is not None and language.code in _columns()


def identify(text: str, asked: str | None = None) -> tuple[str, float, float]:
    """The most probable language of a text, its probability, and that of the language asked for."""
    identifier = _identifier()
    scores = identifier._decide(text)
    best = int(scores.argmax())
    column = _columns().get(asked or "")
    return str(identifier.nb_classes[best]), float(scores[best]), float(scores[column]) if column is not None else 0.0


def letters(text: str) -> int:
    """How many letters a text has; a character of a script without spaces counts as three."""
    count = sum(map(len, LETTERS.findall(text)))
    return count if text.isascii() else count + 2 * len(UNSPACED.findall(text))


LETTERS = re.compile(r"[^\W\d_]+")


def _prose(side: Side) -> str:
    prose = NOISE.sub(" ", side.prose)
    return prose.lower() if side.shouted else prose


def other_language(text: str, asked: str, shortest: int = SHORTEST) -> tuple[str, float] | None:
    """The language of a text where it is surely not the one asked for, and how probable; None where nothing is sure."""
    if len(text) < shortest and (text.isascii() or letters(text) < shortest):
        return None
    if (by_letters := _by_letters(text, asked)) is not None:
        return by_letters
    found = _foreign(text, asked)
    if found is None or letters(text) < shortest:
        return None
    without_names = NAME.sub(" ", text)
    if len(without_names) != len(text):
        if letters(without_names) < 0.6 * shortest:
            return None
        again = _foreign(without_names, asked)
        if again is None or again[0] != found[0]:
            return None
    return found


def _by_letters(text: str, asked: str) -> tuple[str, float] | None:
    """A language that the identifier mistakes for the one asked for, by letters that only one of them has."""
    if asked not in ALIEN or text.isascii():
        return None
    other, theirs, ours = ALIEN[asked]
    if ours.search(text) or len(theirs.findall(text)) < ALIEN_WORDS[asked]:
        return None
    return other, 1.0


def _foreign(text: str, asked: str) -> tuple[str, float] | None:
    language, sure, of_asked = identify(text, asked)
    if language in (asked, "zxx") or of_asked > NOT_ASKED or sure < SURE:
        return None
    related = any(asked in group and language in group for group in RELATIVES)
    return None if related and sure < SURE_OF_RELATIVE else (language, sure)


@lru_cache(maxsize=8)
def _found(source: str, text: str, asked: str) -> tuple[str, float] | None:
    """Asked by two detectors in a row."""
    return other_language(text, asked)


def _language(pair: Pair) -> tuple[str, float] | None:
    asked = pair.translation.language
    if asked is None or asked.code not in _columns() or is_copy(pair):
        return None
    return _found(pair.source.text, _prose(pair.translation), asked.code)


@detector("off-target", family="language", needs=("target language",), cost="identifier")
def off_target(pair: Pair) -> Failure | None:
    """The translation is in another language than asked for, and not in the source's."""
    found = _language(pair)
    if found is None or (pair.source.language is not None and found[0] == pair.source.language.code):
        return None
    relative = pair.source.language
    if relative is not None and any({found[0], relative.code} <= group for group in RELATIVES):
        return None
    return Failure("off-target", found[1], f"identified as {found[0]}")


@detector("source-language", family="language", needs=("source language", "target language"), cost="identifier")
def source_language(pair: Pair) -> Failure | None:
    """The translation is in the language of the source, without being a copy of it."""
    found = _language(pair)
    asked = pair.translation.language
    if found is None or asked is None or pair.source.language is None or found[0] != pair.source.language.code:
        return None
    if any(identify(NOISE.sub(" ", part))[0] == asked.code for part in _parts(pair.translation, SHORTEST)):
        return None
    if speaks_target(pair) or "```" in pair.translation.text:
        return None
    return Failure("source-language", found[1], f"identified as {found[0]}")


@detector("mixed", family="language", needs=("source", "source language", "target language"), cost="identifier")
def mixed(pair: Pair) -> Failure | None:
    """Some sentences are in the language asked for, others in another."""
    asked, text = pair.translation.language, pair.translation.text
    if asked is None or asked.code not in _columns() or len(text) < 2 * SHORTEST_PART or is_copy(pair):
        return None
    if not _may_be_mixed(pair):
        return None
    parts = _parts(pair.translation, SHORTEST_PART)
    if len(parts) < 2:
        return None
    source = " ".join(pair.source.text.lower().split())
    wrong, right = [], 0
    for part in parts[:40]:
        plain = NOISE.sub(" ", part)
        found = other_language(plain, asked.code, SHORTEST_PART)
        if found is None:
            right += identify(plain, asked.code)[0] == asked.code
        elif found[1] > 0.95 and not _is_foreign_in_source(part, source, found[0], pair.source.language):
            wrong.append((part, found))
    if not wrong or not right:
        return None
    start = text.find(wrong[0][0])
    spans = ((start, start + len(wrong[0][0])),) if start >= 0 else ()
    return Failure("mixed", wrong[0][1][1], f"{wrong[0][1][0]}: {wrong[0][0][:120]}", spans)


def _parts(side: Side, shortest: int) -> list[str]:
    """The sentences of some length; what stands in braces is data, whose language nobody asked to change."""
    return [
        part for part in SENTENCE.split(side.prose) if len(part) >= shortest and "{" not in part and "}" not in part
    ]


def _may_be_mixed(pair: Pair) -> bool:
    """A cheap first look: some function words of the source's language, where these are known."""
    ours, theirs = pair.source.lexicon, pair.translation.lexicon
    if ours is None or theirs is None or not ours.function_words:
        return True
    return len(pair.translation.vocabulary & ours.function_words) >= MIXED_WORDS


MIXED_WORDS = 3


def _is_foreign_in_source(part: str, source: str, language: str, source_language: Language | None) -> bool:
    """Whether a part stands in the source in that same foreign language: then it is kept, not invented."""
    own = source_language is not None and language == source_language.code
    return not own and " ".join(part.lower().split()) in source


@detector("script", family="language", needs=("source", "target language"))
def foreign_script(pair: Pair) -> Failure | None:
    """Letters of a script that neither the language asked for nor the source uses."""
    text, language = pair.translation.text, pair.translation.language
    if language is None or (text.isascii()):
        return None
    own = SCRIPTS.get(language.code)
    if own is None and (pair.translation.is_latin or not NOT_PLAIN.search(text)):
        return None
    belongs = (own or {"Latin"}) | WITHOUT_ASKING
    foreign: dict[str, list[re.Match[str]]] = {}
    for letter in SCRIPT.finditer(text):
        if letter.lastgroup not in belongs:
            foreign.setdefault(str(letter.lastgroup), []).append(letter)
    for script, found in foreign.items():
        if any(letter.lastgroup == script for letter in SCRIPT.finditer(pair.source.text)):
            continue
        shown = "".join(letter.group() for letter in found[:20])
        spans = tuple((letter.start(), letter.end()) for letter in found[:20])
        return Failure("script", 1.0, f"{script}: {shown}", spans)
    return None
