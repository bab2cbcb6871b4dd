"""What a metric must not reward: nothing at all, the wrong text, the right one with something else behind it.

COMET's users report a copied source that scores 92.4 and scores that fall with length although the translation is the
reference; SacreCOMET (Zouhar 2024) found empty and foreign outputs that score well; a challenge set of WMT25 continues
faithful beginnings with fluent text of something else. The suite `pitfalls` says what an ideal metric does of each.
"""

from functools import lru_cache, partial
from typing import Literal

from babelquake.languages import Language
from babelquake.paths import lines_of_room
from babelquake.perturb.card import perturbation
from babelquake.perturb.context import Other, Others, Rewritten
from babelquake.perturb.linguistics import base_language
from babelquake.randomness import Stream
from babelquake.text import TOKEN, is_unspaced

INVISIBLE = ("\N{ZERO WIDTH SPACE}", "\N{ZERO WIDTH NON-JOINER}", "\N{WORD JOINER}", "\N{SOFT HYPHEN}")
PHRASES = {"en": "Translation complete.", "de": "Übersetzung abgeschlossen.", "fr": "Traduction terminée."}
"""What models write behind a translation; English in other languages too, as they do."""
WINDOWS = 8
"""In how many concatenations of k segments a segment takes part at most: long ones begin at every (k / 8)th segment."""

pitfall = partial(perturbation, family="pitfalls", meaning="altering")


repeating = partial(perturbation, family="pitfalls", meaning="depends")


@pitfall("empty", label="nothing at all", side="translation")
def empty(text: str) -> str:
    """No translation: the empty text. Skipped for a text with placeholders, unless `protect=none`."""
    return ""


@pitfall("blank", label="spaces only", side="translation")
def blank(text: str) -> str | None:
    """Three spaces in place of the translation. Skipped without one, and with placeholders unless `protect=none`."""
    return "   " if text.strip() else None


@pitfall("full-stop", label="a full stop only", side="translation")
def full_stop(text: str) -> str | None:
    """A full stop in place of the translation. Skipped for a text without words."""
    return "." if TOKEN.search(text) else None


@pitfall("foreign", label="translated into another language")
def in_another_language(text: str, foreign: str | None) -> str | None:
    """The same source in another language. Skipped for a blank text, and where neither data nor a model have that."""
    return foreign if foreign and foreign != text and text.strip() else None


@pitfall("other-translation", label="translation of another segment")
def other_translation(text: str, others: Others, rng: Stream) -> str | None:
    """The translation of another segment. Skipped for a blank text, and where there is no other segment."""
    other = others.another(rng) if text.strip() else None
    return other.text if other else None


@pitfall("unrelated", label="unrelated fluent text")
def unrelated(text: str, rng: Stream, lang: Language | None) -> str | None:
    """Fluent sentences about something else, about as long. Skipped for a blank text and without such sentences."""
    sentences = fluent(base_language(lang))
    if not sentences or not text.strip():
        return None
    found: list[str] = []
    for sentence in rng.shuffled(sentences):
        found.append(sentence)
        if sum(map(len, found)) >= len(text):
            break
    return " ".join(found) if found != [text] else None


@pitfall("extra-sentence", label="a made-up sentence added")
def extra_sentence(text: str, rng: Stream, lang: Language | None) -> str | None:
    """Add a fluent sentence that the source does not hold. Skipped for a blank text and without such sentences."""
    sentences = fluent(base_language(lang))
    return _joined([text, rng.choice(sentences)]) if sentences and text.strip() else None


@pitfall("drift", label="drifts into other text ({level} of words)", level=0.5, unit="share of words")
def drift(text: str, level: float, others: Others, rng: Stream) -> str | None:
    """Keep the beginning and go on with another segment's end. Skipped for a blank text, or if there is no other."""
    other = others.another(rng) if text.strip() else None
    if other is None:
        return None
    kept, end = _cut(text, 1 - level), _cut(other.text, 1 - level)
    drifted = text[:kept] + other.text[end:]
    return drifted if drifted != text and other.text[end:].strip() else None


@pitfall("cut-short", label="cut short ({level} of words missing)", level=0.5, unit="share of words")
def cut_short(text: str, level: float) -> str | None:
    """Leave out the end of the text. Skipped for a text of one word, and where nothing would be left."""
    kept = text[: _cut(text, 1 - level)].rstrip()
    return kept if kept and kept != text else None


@pitfall("sentence-repeat", label="repeated over and over", level=2, unit="copies", high=100.0)
def repeat_sentence(text: str, level: float) -> str | None:
    """Say the whole text several times: twice by default. Skipped for a text without words."""
    return _joined([text] * max(2, round(level))) if TOKEN.search(text) else None


@repeating("reference-repeat", label="the reference twice", level=2, unit="copies", high=100.0)
def repeat_reference(text: str, level: float, reference: str | None) -> str | None:
    """The reference several times in place of the translation: twice by default. Skipped without a reference."""
    return _joined([reference] * max(2, round(level))) if reference and TOKEN.search(reference) else None


def _filler(kind: str) -> str:
    return {"phrase": "“Translation complete.” added", "quotes": "put in quotation marks"}.get(kind, "set in Markdown")


@repeating("filler", label=_filler)
def filler(text: str, lang: Language | None, kind: Literal["phrase", "quotes", "markdown"] = "phrase") -> str | None:
    """Add what chat models add: a closing phrase, quotation marks or Markdown around it. Skipped without words."""
    if not TOKEN.search(text):
        return None
    if kind == "quotes":
        return f"“{text}”"
    if kind == "markdown":
        return f"**{text}**"
    return _joined([text, PHRASES.get(base_language(lang).code, PHRASES["en"])])


@perturbation(
    "invisible",
    label="invisible characters ({level} of words)",
    family="pitfalls",
    meaning="preserving",
    level=0.3,
    unit="share of words",
)
def invisible(text: str, level: float, rng: Stream) -> str | None:
    """Put characters behind words that nobody sees: zero-width spaces, joiners, soft hyphens. Skipped without words."""
    ends = [found.end() for found in TOKEN.finditer(text)]
    if not ends:
        return None
    chosen = [end for end in ends if rng.chance(level)] or [ends[0]]
    parts, last = [], 0
    for end in chosen:
        parts += [text[last:end], rng.choice(INVISIBLE)]
        last = end
    return "".join(parts) + text[last:]


@pitfall("source-swap", label="source and translation swapped", rewrites=True)
def swap_with_source(text: str, source: str | None) -> str | None:
    """Let source and translation change places. Skipped where one of them is missing, and where they are the same."""
    return Rewritten(source, source=text) if source and source.strip() and text.strip() and source != text else None


@repeating("concatenated", label="references in a row", level=1, unit="segments", high=1000.0, rewrites=True)
def concatenated(text: str, level: float, others: Others) -> str | None:
    """The references of so many segments in a row as their own translation: as good as can be, and longer.

    Sources and references are concatenated with them. Long ones begin at every (k / 8)th segment only. None elsewhere,
    without references, and where there are fewer segments.
    """
    chain = _chain(others, round(level) or 1)
    return _whole(chain, [str(one.reference) for one in chain]) if chain else None


@repeating(
    "end-lost", label="end of references in a row replaced", level=2, unit="segments", high=1000.0, rewrites=True
)
def end_lost(text: str, level: float, others: Others, rng: Stream) -> str | None:
    """As `concatenated`, with another segment's reference in place of the last: does the end of a long text count?

    Skipped where `concatenated` is, and where there is no other segment.
    """
    chain, other = _chain(others, max(2, round(level))), others.another(rng)
    if not chain or other is None or not other.reference or other.reference == chain[-1].reference:
        return None
    return _whole(chain, [*(str(one.reference) for one in chain[:-1]), other.reference])


def _chain(others: Others, count: int) -> list[Other] | None:
    """The segments from here on, where a concatenation begins and all of them have a reference."""
    if others.place % max(1, count // WINDOWS):
        return None
    chain = others.chain(count)
    return chain if chain and all(one.reference for one in chain) else None


def _whole(chain: list[Other], texts: list[str]) -> Rewritten:
    """Texts in a row as the translation of their sources in a row."""
    source = _joined([one.source or "" for one in chain])
    return Rewritten(_joined(texts), source, _joined([str(one.reference) for one in chain]))


def _joined(texts: list[str]) -> str:
    """One after another, with a space between those that are written with spaces."""
    return ("" if all(map(is_unspaced, texts)) else " ").join(texts)


def _cut(text: str, share: float) -> int:
    """Where the first share of a text's words ends: of its characters, where these are not apart."""
    if is_unspaced(text):
        return round(share * len(text))
    ends = [found.end() for found in TOKEN.finditer(text)]
    kept = round(share * len(ends))
    return ends[kept - 1] if kept and ends else 0


@lru_cache(maxsize=64)
def fluent(lang: Language) -> tuple[str, ...]:
    """Sentences of a language that have nothing to do with any test set; none where none ship."""
    return tuple(lines_of_room("perturb", f"lexicon/fluent/{lang.code}.txt"))
