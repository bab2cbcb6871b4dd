"""Antonyms of English words, from compact tables made of WordNet 3.0 (scripts/make_wordnet_table.py).

A word is looked up by its form: as it stands, or as a regular or listed irregular form of a verb (-s, -ed, -ing) or a
plural. What is found carries the same ending, so that 'increased' becomes 'decreased'.
"""

import gzip
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files

VERSION = "3.0"
VOWELS = "aeiou"
ENDINGS: tuple[tuple[str, str, str], ...] = (
    ("men", "man", "s"),
    ("ies", "y", "s"),
    ("es", "", "s"),
    ("s", "", "s"),
    ("ied", "y", "ed"),
    ("ed", "", "ed"),
    ("ed", "e", "ed"),
    ("ing", "", "ing"),
    ("ing", "e", "ing"),
)
"""How a form ends, what stands there in the lemma, and which ending it is."""

Table = dict[str, dict[str, tuple[str, ...]]]


def antonyms(word: str) -> tuple[str, ...]:
    """Words of opposite meaning in lower case and the same form, the word's own antonyms first."""
    return _look_up(word.lower())


@lru_cache(maxsize=65536)
def _look_up(word: str) -> tuple[str, ...]:
    table = _table()
    found = [other for others in table.get(word, {}).values() for other in others]
    if not found:
        for lemma, part, ending in _lemmas(word):
            if others := table.get(lemma, {}).get(part):
                found = [_inflected(other, part, ending) for other in others]
                break
    return tuple(dict.fromkeys(other for other in found if other != word))


def _lemmas(form: str) -> Iterator[tuple[str, str, str]]:
    """Lemma, part of speech and ending that a form may stand for, irregular ones first."""
    if listed := _irregular().get(form):
        lemma, part = listed
        yield lemma, part, "ing" if form.endswith("ing") else "s" if part == "n" or form.endswith("s") else "ed"
    for end, instead, ending in ENDINGS:
        if form.endswith(end) and len(form) > len(end) + 1:
            stem = form[: -len(end)] + instead
            yield stem, "v", ending
            if ending == "s":
                yield stem, "n", ending
            elif len(stem) > 2 and stem[-1] == stem[-2]:
                yield stem[:-1], "v", ending


def _inflected(lemma: str, part: str, ending: str) -> str:
    """A lemma with an ending: irregular where listed, otherwise by the rules of spelling."""
    for form in _forms().get((lemma, part), ()):
        if _suits(form, part, ending):
            return form
    if part == "n" and lemma.endswith("man") and not lemma.endswith("human"):
        return lemma[:-2] + "en"
    if ending == "s":
        if lemma.endswith("y") and lemma[-2:-1] not in VOWELS:
            return lemma[:-1] + "ies"
        return lemma + ("es" if lemma.endswith(("s", "x", "z", "ch", "sh")) else "s")
    if ending == "ed" and lemma.endswith("y") and lemma[-2:-1] not in VOWELS:
        return lemma[:-1] + "ied"
    silent = lemma.endswith("e") and not lemma.endswith(("ee", "oe", "ye"))
    if ending == "ed" and lemma.endswith("e"):
        return lemma + "d"
    return (lemma[:-1] if silent else lemma) + ending


def _suits(form: str, part: str, ending: str) -> bool:
    if part == "n" or ending == "s":
        return ending == "s" and (part == "n" or form.endswith("s"))
    return form.endswith("ing") == (ending == "ing") and not form.endswith("s")


@lru_cache(maxsize=1)
def _table() -> Table:
    table: Table = {}
    for word, part, others in _rows("antonyms"):
        table.setdefault(word, {})[part] = tuple(others.split())
    return table


@lru_cache(maxsize=1)
def _irregular() -> dict[str, tuple[str, str]]:
    return {form: (lemma, part) for form, part, lemma in _rows("inflections")}


@lru_cache(maxsize=1)
def _forms() -> dict[tuple[str, str], list[str]]:
    """Irregular forms by lemma; a past tense (took) before its participle (taken)."""
    forms: dict[tuple[str, str], list[str]] = {}
    for form, part, lemma in _rows("inflections"):
        forms.setdefault((lemma, part), []).append(form)
    return {key: sorted(found, key=lambda form: form.endswith("n")) for key, found in forms.items()}


def _rows(name: str) -> Iterator[tuple[str, str, str]]:
    place = files("babelquake.perturb").joinpath("lexicon", "wordnet", f"{name}.tsv.gz")
    for line in gzip.decompress(place.read_bytes()).decode("utf-8").splitlines():
        word, part, rest = line.split("\t")
        yield word, part, rest
