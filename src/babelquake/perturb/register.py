"""Register: the same thing said shorter or more casually. Tables of each language; meaning is kept."""

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any

import regex

from babelquake.languages import Language
from babelquake.perturb.card import perturbation
from babelquake.perturb.function_words import LISTED
from babelquake.perturb.linguistics import named_lists, word_lists
from babelquake.randomness import Stream
from babelquake.text import match_case, replaced

casual = partial(
    perturbation,
    family="register",
    meaning="preserving",
    level=1.0,
    unit="share of expressions",
    languages=LISTED,
    resource=named_lists,
)


@casual("abbreviate", label="abbreviations")
def abbreviate(text: str, level: float, rng: Stream, lang: Language | None) -> str | None:
    """Abbreviate words and phrases that have a usual short form ('for example' → 'e.g.').

    Each with probability `level`. Skipped where the text has none.
    """
    lists = word_lists(lang)
    return _rewrite(text, lists.lang, "abbreviations", level, rng) if lists else None


@casual("informal", label="chat language")
def make_informal(text: str, level: float, rng: Stream, lang: Language | None) -> str | None:
    """Write as in chats: 'you' → 'u', 'going to' → 'gonna'.

    Each with probability `level`. Skipped where the text has no such expression.
    """
    lists = word_lists(lang)
    return _rewrite(text, lists.lang, "informal", level, rng) if lists else None


def _rewrite(text: str, lang: Language, name: str, level: float, rng: Stream) -> str | None:
    pattern, table = _pattern(lang, name)
    edits = []
    found = list(pattern.finditer(text)) if pattern else []
    for match in found:
        new = table.get(match.group()) or table.get(match.group().lower())
        if new is None or not rng.chance(level):
            continue
        end = match.end()
        if new.endswith(".") and text[end : end + 1] == ".":
            new = new[:-1]
        edits.append((match.start(), end, match_case(new, match.group()) if new.islower() else new))
    return replaced(text, edits) if found else None


@lru_cache(maxsize=32)
def _pattern(lang: Language, name: str) -> tuple[Any, Mapping[str, str]]:
    """Whole expressions, the longest first; those listed with capitals keep them (August), others may take them."""
    lists = word_lists(lang)
    table: Mapping[str, str] = getattr(lists, name) if lists else {}
    if not table:
        return None, table
    forms = [
        f"(?i:{regex.escape(phrase)})" if phrase.islower() else regex.escape(phrase)
        for phrase in sorted(table, key=lambda phrase: (-len(phrase), phrase))
    ]
    return regex.compile(rf"(?<![\w'’\-])(?:{'|'.join(forms)})(?![\w'’\-])"), table
