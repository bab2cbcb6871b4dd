"""Content words: their case (Kanojia 2021, MPP5–6), dropped, repeated, inserted, replaced (MAP2–7).

What a content word is can be told in two ways. `content=tags`, as the paper's text has it: nouns, verbs, adjectives and
adverbs as `linguistics` tells them apart. `content=stop-words`, as its code has it: whatever is on no list of
closed-class words, numbers included. In Chinese and Japanese pairs of Han characters and runs of katakana stand in for
words; scripts such as Thai have none without a tagger.

Antonyms come from compact tables made of WordNet 3.0 (scripts/make_wordnet_table.py). A word is looked up by its form:
as it stands, or as a regular or listed irregular form of a verb (-s, -ed, -ing) or a plural. What is found carries the
same ending, so that 'increased' becomes 'decreased'.
"""

import gzip
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from importlib.resources import files
from typing import Annotated, Literal

from babelquake.languages import Language
from babelquake.perturb.card import perturbation
from babelquake.perturb.context import Asking, filled
from babelquake.perturb.linguistics import linguistics, named_lists, not_stop_words, pieces, resource, word_lists
from babelquake.randomness import Stream
from babelquake.spec import Range
from babelquake.text import Span, has_case, is_unspaced, match_case, replaced, without, words

WORDNET = "3.0"
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
    return _found_antonyms(word.lower())


@lru_cache(maxsize=65536)
def _found_antonyms(word: str) -> tuple[str, ...]:
    table = _antonyms_by_part()
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
def _antonyms_by_part() -> Table:
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


ENGLISH = Language("en")
MOST = 20.0
"""The largest number of words a level can ask for."""
CAP = 10
"""Words that MAP6 and MAP7 replace at most, however long the sentence: the default of the authors' library."""
HAVE = frozenset({"have", "has", "had", "having"})
"""Closed-class forms that have antonyms all the same: the paper's example turns 'had' into 'lack'."""
Content = Literal["tags", "stop-words"]
Which = Literal["any", "content"]
Position = Literal["content", "any"]
Count = Annotated[int, Range(1, 10_000)]
kanojia2021 = partial(perturbation, family="content words", side="translation", replicates=20, resource=resource)


altering = partial(kanojia2021, meaning="altering", level=1, high=MOST)
recasing = partial(kanojia2021, meaning="preserving", level=0.5, unit="probability per word")
replacing = partial(
    perturbation, family="content words", meaning="altering", level=0.3, unit="share of words", side="translation"
)


@recasing("upper-words", label="some words in CAPITALS", paper="Kanojia 2021 §5.1 MPP5")
def upper_words(text: str, level: float, rng: Stream, lang: Language | None, words: Which = "any") -> str | None:
    """Write random words in UPPER CASE. Skipped where the text has no letters with case.

    `words=any`, as the authors ran it: each word with probability `level`. `words=content`, as the text says: that
    share of the content words that can change, at least one.
    """
    return _recase(text, str.upper, level, rng, lang, words)


@recasing("lower-words", label="some words in lower case", paper="Kanojia 2021 §5.1 MPP6")
def lower_words(text: str, level: float, rng: Stream, lang: Language | None, words: Which = "any") -> str | None:
    """Write random words in lower case. Skipped where the text has no letters with case.

    `words=any`, as the authors ran it: each word with probability `level`. `words=content`, as the text says: that
    share of the content words that can change, at least one.
    """
    return _recase(text, str.lower, level, rng, lang, words)


@altering("word-drop", label="content words missing", paper="Kanojia 2021 §5.2 MAP2", unit="content words")
def drop_words(text: str, level: float, rng: Stream, lang: Language | None, content: Content = "tags") -> str | None:
    """Remove random content words: one at the paper's level. Skipped where there is no content word or nothing else."""
    changed = without(text, _some(_content_words(text, lang, content), level, rng))
    return changed if changed != text and changed.strip() else None


@altering("word-repeat", label="content words repeated", paper="Kanojia 2021 §5.2 MAP3", unit="content words")
def repeat_words(text: str, level: float, rng: Stream, lang: Language | None, content: Content = "tags") -> str | None:
    """Write random content words twice: one at the paper's level. Skipped where there is no content word."""
    gap = "" if is_unspaced(text) else " "
    chosen = _some(_content_words(text, lang, content), level, rng)
    return replaced(text, [(word.end, word.end, gap + word.text) for word in chosen]) if chosen else None


@altering("word-insert", label="random words inserted", paper="Kanojia 2021 §5.2 MAP4", unit="words")
def insert_words(
    text: str,
    level: float,
    rng: Stream,
    lang: Language | None,
    vocabulary: Sequence[str] | None,
    content: Content = "tags",
    position: Position = "content",
) -> str | None:
    """Insert a word after a content word, one at the paper's level.

    Words come from `vocabulary=shipped`, `data`, `data-all` or a file. After a content word is what the authors' code
    does; `position=any` is the text's "random position", after any word. A word never lands beside itself. None where
    the text has no such word, or the vocabulary no other.
    """
    every = pieces(text)
    place_of = {word.start: place for place, word in enumerate(every)}
    gap = "" if is_unspaced(text) else " "
    edits = []
    for word in _some(every if position == "any" else _content_words(text, lang, content), level, rng):
        place = place_of.get(word.start, 0)
        new = _draw(vocabulary or (), {near.text for near in (*every[place : place + 2], word)}, rng)
        if new is not None:
            edits.append((word.end, word.end, gap + new))
    return replaced(text, edits) if edits else None


@altering("word-replace", label="content words replaced", paper="Kanojia 2021 §5.2 MAP5", unit="content words")
def replace_words(
    text: str,
    level: float,
    rng: Stream,
    lang: Language | None,
    vocabulary: Sequence[str] | None,
    content: Content = "tags",
) -> str | None:
    """Replace random content words by others, one at the paper's level.

    They come from `vocabulary=shipped`, `data`, `data-all` or a file. Skipped where there is no content word, or the
    vocabulary has no other.
    """
    edits = []
    for word in _some(_content_words(text, lang, content), level, rng):
        new = _draw(vocabulary or (), {word.text}, rng)
        if new is not None:
            edits.append((word.start, word.end, new))
    return replaced(text, edits) if edits else None


@replacing("mask-replace", label="words replaced by a language model", paper="Kanojia 2021 §5.2 MAP6", replicates=5)
def replace_by_model(
    text: str,
    level: float,
    rng: Stream,
    lang: Language | None,
    model: str = "",
    top: Count = 100,
    most: Count = CAP,
    lowercase: bool = False,
    only: str = "",
) -> Asking:
    """Mask random words, at least one, and let a masked language model fill the gaps: `mask-replace[model=…]`.

    Each gap is drawn from the model's `top` likeliest words; `most` words change at most. `lowercase=true` writes all
    in lower case first, as the paper's uncased model did; `only=en` leaves texts of other languages alone, for a model
    that knows one. Skipped where the text has no words, or the model offers no other.
    """
    if only and lang != Language(only):
        return None
    text = text.lower() if lowercase else text
    every = words(text)
    return (yield from filled(text, _some(every, min(level * len(every), most), rng), rng))


def antonym_resource(lang: Language | None) -> str:
    """For signatures: the table, and what tells function words apart."""
    return f"wordnet:{WORDNET}+{named_lists(ENGLISH)}"


@replacing(
    "antonym",
    label="words replaced by their opposites",
    paper="Kanojia 2021 §5.2 MAP7",
    languages=("en",),
    replicates=20,
    resource=antonym_resource,
)
def replace_by_antonyms(text: str, level: float, rng: Stream, most: Count = CAP) -> str | None:
    """Replace random words, at least one, by antonyms from WordNet. Skipped where no word has one.

    `level` is the share of all words, `most` the largest number that changes; words without antonyms are passed over.
    Endings (-s, -ed, -ing) are carried over.
    """
    every = words(text)
    lists = word_lists(ENGLISH)
    known = [
        (word, others)
        for word in every
        if (lists is None or word.text.lower() in HAVE or not lists.is_function_word(word.text))
        and (others := antonyms(word.text))
    ]
    chosen = [known[place] for place in rng.sample(len(known), _number(min(level * len(every), most)))]
    edits = [(word.start, word.end, match_case(rng.choice(others), word.text)) for word, others in chosen]
    return replaced(text, edits) if edits else None


def _content_words(text: str, lang: Language | None, content: Content) -> list[Span]:
    return not_stop_words(text, lang) if content == "stop-words" else linguistics(lang).content_words(text)


def _recase(
    text: str, change: Callable[[str], str], level: float, rng: Stream, lang: Language | None, which: Which
) -> str | None:
    if which == "any":
        if not has_case(text):
            return None
        every = [word for word in words(text) if change(word.text).casefold() == word.text.casefold()]
        chosen = [every[place] for place in rng.hits(len(every), level)]
        return replaced(text, [(word.start, word.end, change(word.text)) for word in chosen])
    found = [
        word
        for word in linguistics(lang).content_words(text)
        if change(word.text) != word.text and change(word.text).casefold() == word.text.casefold()
    ]
    edits = [(word.start, word.end, change(word.text)) for word in _some(found, level * len(found), rng)]
    return replaced(text, edits) if edits else None


def _number(level: float) -> int:
    """How many words a level asks for: at least one."""
    return max(1, round(level))


def _some(spans: Sequence[Span], level: float, rng: Stream) -> list[Span]:
    """As many of the words as the level says, in the order of the text."""
    return [spans[place] for place in rng.sample(len(spans), _number(level))]


def _draw(pool: Sequence[str], excluded: set[str], rng: Stream) -> str | None:
    """A word of the pool that is not excluded; None where there is none."""
    if not pool:
        return None
    for _ in range(len(excluded) + 8):
        word = rng.choice(pool)
        if word not in excluded:
            return word
    others = [word for word in pool if word not in excluded]
    return rng.choice(others) if others else None


@perturbation(
    "word-swap",
    label="neighbouring words swapped",
    family="content words",
    meaning="depends",
    level=1,
    unit="pairs of neighbours",
    high=20.0,
)
def swap_words(text: str, level: float, rng: Stream) -> str | None:
    """Swap random neighbouring words: one pair by default.

    Neighbours have nothing but a space between them. Skipped where no two neighbours differ.
    """
    every, wanted = pieces(text), max(1, round(level))
    edits: list[tuple[int, int, str]] = []
    for left in rng.shuffled(range(len(every) - 1)):
        first, second = every[left], every[left + 1]
        between = text[first.end : second.start]
        free = not any(start < second.end and first.start < end for start, end, _ in edits)
        if free and first.text != second.text and (not between or between.isspace()):
            edits.append((first.start, second.end, second.text + between + first.text))
        if len(edits) == wanted:
            break
    return replaced(text, sorted(edits)) if edits else None


@perturbation(
    "word-order",
    label="words in random order",
    family="content words",
    meaning="altering",
    level=1.0,
    unit="share of words",
)
def shuffle_words(text: str, level: float, rng: Stream) -> str | None:
    """Put random words of the sentence in random order; punctuation stays. Skipped where no two words differ."""
    every = pieces(text)
    if len({word.text for word in every}) < 2:
        return None
    places = rng.sample(len(every), max(2, round(level * len(every))))
    order = rng.shuffled(places)
    if order == places:
        order = [*places[1:], places[0]]
    moved = [(every[to].start, every[to].end, every[source].text) for to, source in zip(places, order, strict=True)]
    return replaced(text, moved)
