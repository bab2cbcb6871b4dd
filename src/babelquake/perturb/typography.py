"""Changes of shape beyond the papers: spaces, diacritics, homoglyphs, scanning errors, emoji; markup between words."""

import unicodedata
from functools import cache, lru_cache, partial
from typing import Literal

import regex

from babelquake.paths import rows_of_room
from babelquake.perturb.card import perturbation
from babelquake.randomness import Stream
from babelquake.text import TOKEN, Span, graphemes, replaced, words

WIDER = ("  ", "   ", "\t", "\N{NO-BREAK SPACE}", " \N{NO-BREAK SPACE}")
PLAIN = str.maketrans("øØłŁđĐħĦıёЁ", "oOlLdDhHiеЕ") | str.maketrans(
    {"ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE"}
)
"""Letters whose plain form no decomposition gives; of the Cyrillic ones only ё is written without its dots."""
MARKED = frozenset({"LATIN", "GREEK", "ARABIC", "HEBREW"})
"""Scripts in which people leave marks out."""
EMOJI = ("🙂", "😊", "😀", "👍", "🙏", "✨", "👋", "☀️", "🌍", "👩‍💻", "🤷🏽‍♀️", "📎")
BETWEEN = regex.compile(r"(?<=\S)\s+(?=\S)")


shape = partial(perturbation, family="shape", meaning="preserving")


@shape("whitespace", label="odd spacing ({level} of gaps)", level=0.1, unit="share of gaps between words")
def whitespace(text: str, level: float, rng: Stream) -> str | None:
    """Widen gaps between words: more spaces, a tab, a no-break space. Skipped where the text has no gap."""
    gaps = [found.span() for found in BETWEEN.finditer(text)]
    if not gaps:
        return None
    edits = []
    for start, end in gaps:
        if rng.chance(level):
            edits.append((start, end, rng.choice([space for space in WIDER if space != text[start:end]])))
    return replaced(text, edits)


@lru_cache(maxsize=16384)
def _plain(unit: str) -> str:
    """A grapheme without its diacritics."""
    if unicodedata.name(unit[0], "").partition(" ")[0] not in MARKED:
        return unit.translate(PLAIN)
    bare = "".join(part for part in unicodedata.normalize("NFD", unit) if unicodedata.category(part) != "Mn")
    return bare.translate(PLAIN)


@shape("diacritics", label="accents missing", level=1.0, unit="share of letters with diacritics")
def diacritics(text: str, level: float, rng: Stream) -> str | None:
    """Leave out accents and other marks: `tres bien`, `uber`. Skipped where no letter has any.

    Latin and Greek accents, Arabic and Hebrew vowel points; ł ø đ ß æ œ and Cyrillic ё get their usual plain forms.
    Letters of their own right such as й stay.
    """
    if text.isascii():
        return None
    units = graphemes(text)
    plain = [_plain(unit) for unit in units]
    if plain == units:
        return None
    return "".join(
        bare if bare != unit and rng.chance(level) else unit for unit, bare in zip(units, plain, strict=True)
    )


@cache
def homoglyphs() -> dict[str, str]:
    """For each letter, those of other scripts that are drawn the same way: Latin `a`, Cyrillic `а`."""
    return {row[0]: row[1] for row in rows_of_room("perturb", "lexicon/homoglyphs.tsv")}


@shape("homoglyph", label="look-alike letters", level=0.1, unit="share of letters")
def homoglyph(text: str, level: float, rng: Stream) -> str | None:
    """Replace letters by those of another script that look the same: Cyrillic `а` for Latin `a`.

    Skipped where no letter has a twin.
    """
    twins, units = homoglyphs(), graphemes(text)
    if twins.keys().isdisjoint(units):
        return None
    return "".join(rng.choice(twins[unit]) if unit in twins and rng.chance(level) else unit for unit in units)


@cache
def _misreadings() -> tuple[dict[str, list[str]], regex.Pattern[str]]:
    """What scanning confuses, and a pattern that finds it; never a letter that carries a combining mark."""
    table = {printed: read.split(" ") for printed, read in rows_of_room("perturb", "lexicon/ocr.tsv")}
    longest_first = sorted(table, key=len, reverse=True)
    pattern = regex.compile(rf"(?:{'|'.join(map(regex.escape, longest_first))})(?![\p{{M}}\u200c\u200d])")
    return table, pattern


@shape(
    "ocr",
    label="scanning errors ({level} of confusable letters)",
    level=0.05,
    unit="share of letters that scanning confuses",
)
def ocr(text: str, level: float, rng: Stream) -> str | None:
    """Misread letters as scanning does: rn/m, l/1, O/0, e/c. Skipped where nothing in the text can be misread."""
    table, pattern = _misreadings()
    spots = list(pattern.finditer(text))
    if not spots:
        return None
    return replaced(text, [(*spot.span(), rng.choice(table[spot.group()])) for spot in spots if rng.chance(level)])


@shape("emoji", label="emoji added", level=1.0, unit="share of sentences")
def emoji(text: str, level: float, rng: Stream) -> str | None:
    """Add one emoji that says nothing new, at the end or after a word. Skipped for a text without words."""
    ends = [found.end() for found in TOKEN.finditer(text)]
    if not ends:
        return None
    if not rng.chance(level):
        return text
    where = ends[-1] if rng.chance(0.5) else rng.choice(ends)
    return replaced(text, [(where, where, f" {rng.choice(EMOJI)}")])


TAGS = (("<b>", "</b>"), ("<i>", "</i>"), ('<a href="#">', "</a>"), ("<span>", "</span>"))
PLACEHOLDERS = ("{name}", "{0}", "{{count}}", "%s", "${user}")
RARE = ("‱", "⁂", "☙", "ꙮ", "𐍈", "⸎")
KINDS = ("tag", "placeholder", "emoji", "rare")


@perturbation(
    "markup",
    label="tags, placeholders and rare characters ({level} of words)",
    family="markup",
    meaning="preserving",
    level=0.1,
    unit="share of words",
    side="source",
)
def insert_markup(
    text: str, level: float, rng: Stream, what: Literal["any", "tag", "placeholder", "emoji", "rare"] = "any"
) -> str | None:
    """Set words in tags, or put placeholders, emoji or rare characters beside them. Skipped without words."""
    found = words(text)
    if not found:
        return None
    chosen = [word for word in found if rng.chance(level)] or [rng.choice(found)]
    return replaced(text, [(word.start, word.end, _marked(word, what, rng)) for word in chosen])


def _marked(word: Span, what: str, rng: Stream) -> str:
    kind = rng.choice(KINDS) if what == "any" else what
    if kind == "tag":
        before, after = rng.choice(TAGS)
        return f"{before}{word.text}{after}"
    if kind == "placeholder":
        return f"{rng.choice(PLACEHOLDERS)} {word.text}"
    return f"{word.text} {rng.choice(EMOJI if kind == 'emoji' else RARE)}"
