"""Punctuation: removed or replaced throughout (Kanojia 2021, MPP1–2), or changed at the end (Jwalapuram 2023)."""

import string
from functools import partial
from typing import Literal

import regex

from babelquake.languages import Language
from babelquake.perturb.card import perturbation
from babelquake.randomness import Stream
from babelquake.text import Ending, ending, final_marks, graphemes, is_punctuation, is_unspaced

Mark = Literal["stop", "exclamation", "question", "random", ".", "!", "?"]
Marks = Literal["each", "last"]
Kinds = Literal["unicode", "ascii"]
NAMES = {".": "stop", "!": "exclamation", "?": "question"}
LABELS = {"stop": "full stop", "exclamation": "exclamation mark", "question": "question mark"}
"""Marks as people call them."""

NUMBER = regex.compile(
    r"(?:(?<![\p{L}\p{N}])[-−+<>=~#§\p{Sc}] ?)*(?:(?<!\S)[.,])?\p{Nd}+(?:[^\p{L}\p{Z}\p{N}]\p{Nd}+)*(?: ?[%‰\p{Sc}])?"
)
"""A number with its sign, currency, per cent and the marks inside it: without them it is another number."""
IDEOGRAPHIC = "。、，！？；：（）「」"
"""Marks that take each other's place in Chinese and Japanese; elsewhere those of Python's `string.punctuation` do."""


punctuation = partial(perturbation, family="punctuation", meaning="preserving")


@punctuation("punct-remove", label="no punctuation", paper="Kanojia 2021 §5.1 MPP1")
def remove_punctuation(text: str, kinds: Kinds = "unicode", protect: bool = True) -> str | None:
    """Remove every punctuation mark but those of numbers (3.5, 10:30, −5, 20 %, $7), which go with `protect=none`.

    As Unicode counts them, with those of Python's `string.punctuation`; `kinds=ascii` the latter alone, as the paper
    has it: “ ” – ’ … stay. Spaces stay as they are. Skipped where there is no mark, or nothing but marks.
    """
    mark = is_punctuation if kinds == "unicode" else string.punctuation.__contains__
    of_numbers = [found.span() for found in NUMBER.finditer(text)] if protect else []
    kept, place = [], 0
    for cluster in graphemes(text):
        if not mark(cluster[0]) or any(start <= place < end for start, end in of_numbers):
            kept.append(cluster)
        place += len(cluster)
    changed = "".join(kept)
    return changed if changed != text and changed.strip() else None


@punctuation(
    "punct-replace",
    label="punctuation replaced",
    paper="Kanojia 2021 §5.1 MPP2",
    level=1.0,
    unit="share of punctuation marks",
    replicates=20,
)
def replace_punctuation(text: str, level: float, rng: Stream, marks: Marks = "each") -> str | None:
    """Replace each punctuation mark, with probability `level`, by another one drawn at random.

    `marks=last` is what the authors' code does: all marks of the last one's kind become one and the same other mark,
    and the rest stay; marks are those of Python's `string.punctuation`. Chinese and Japanese draw from their own marks.
    Skipped where there is no mark.
    """
    clusters = graphemes(text)
    pool = IDEOGRAPHIC if is_unspaced(text) else string.punctuation
    mark = pool.__contains__ if marks == "last" else is_punctuation
    places = [place for place, cluster in enumerate(clusters) if mark(cluster[0])]
    if not places:
        return None
    if marks == "last":
        last = clusters[places[-1]]
        other = rng.choice(pool.replace(last[0], "")) if rng.chance(level) else last
        return "".join(other if cluster == last else cluster for cluster in clusters)
    for place in places:
        if rng.chance(level):
            clusters[place] = rng.choice(pool.replace(clusters[place][0], ""))
    return "".join(clusters)


def inserted(mark: str) -> str:
    """What `final-insert` does, for people."""
    return f"{LABELS.get(NAMES.get(mark, mark), 'random character')} added at the end"


def deleted(mark: str) -> str:
    """What `final-delete` does, for people."""
    kind = NAMES.get(mark, mark)
    return f"final {LABELS[kind]} missing" if kind in LABELS else "last letter missing"


@punctuation("final-insert", label=inserted, paper="Jwalapuram 2023 §2.2", side="source")
def insert_final(text: str, rng: Stream, lang: Language | None, mark: Mark = "stop") -> str | None:
    """Add a full stop, an exclamation mark, a question mark or a random character at the end of the sentence.

    The mark is the language's own (the script's where the language is unknown); a random character is one of the
    sentence's own, marks included but no space. Skipped where the text already ends in punctuation of any
    kind (closing quotes and brackets included), or is blank: the paper's split "no final punctuation".
    """
    bare = text.rstrip()
    if not _ends_bare(bare):
        return None
    kind = NAMES.get(mark, mark)
    added = rng.choice(_own_characters(text)) if kind == "random" else final_marks(text, lang)[kind]
    return bare + added + text[len(bare) :]


@punctuation("final-delete", label=deleted, paper="Jwalapuram 2023 §2.2", side="source")
def delete_final(text: str, lang: Language | None, mark: Mark = "stop") -> str | None:
    """Delete the full stop, exclamation mark or question mark that ends the sentence, or its last letter.

    A space before the mark goes with it. Skipped where the text does not end in that mark (an ellipsis is not a full
    stop; a quote or bracket after the mark ends the text), or is nothing else. `mark=random` deletes the last
    character; not applicable where the text ends in punctuation or has only one character.
    """
    kind = NAMES.get(mark, mark)
    if kind == "random":
        bare = text.rstrip()
        shortened = "".join(graphemes(bare)[:-1])
        return shortened + text[len(bare) :] if _ends_bare(bare) and shortened.strip() else None
    end = ending(text)
    if end.closing or not end.body or not _is(end, kind, final_marks(text, lang)):
        return None
    return end.body + end.tail


def _is(end: Ending, kind: str, marks: dict[str, str]) -> bool:
    """Whether a sentence ends in a kind of mark: any script's, or what this script uses for it (Greek `;`)."""
    return end.kind == kind or end.mark == marks[kind]


def _ends_bare(text: str) -> bool:
    """Whether the last visible character is not punctuation."""
    return bool(text) and not is_punctuation(graphemes(text)[-1][0])


def _own_characters(text: str) -> list[str]:
    """The visible characters of the text, as often as they occur: what a random character is drawn from."""
    return [unit for unit in graphemes(text) if not unit[0].isspace()]
