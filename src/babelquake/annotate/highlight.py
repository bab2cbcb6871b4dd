"""Texts taken apart for the screen: words that differ between two translations, and words that errors are marked on."""

from collections.abc import Sequence
from difflib import SequenceMatcher

from babelquake.text import Span, graphemes, is_unspaced, tokens

Piece = tuple[str, bool]
"""A stretch of text and whether it stands out."""


def differing(one: str, other: str) -> tuple[list[Piece], list[Piece]]:
    """Both texts in stretches, those of words that the other does not have standing out."""
    first, second = pieces(one), pieces(other)
    matcher = SequenceMatcher(None, [span.text for span in first], [span.text for span in second], autojunk=False)
    same_first, same_second = set(), set()
    for start, begin, size in matcher.get_matching_blocks():
        same_first |= set(range(start, start + size))
        same_second |= set(range(begin, begin + size))
    return _stretches(one, first, same_first), _stretches(other, second, same_second)


def pieces(text: str) -> list[Span]:
    """Words between spaces; single characters in scripts that put no spaces between words."""
    return characters(text) if is_unspaced(text) else tokens(text)


def characters(text: str) -> list[Span]:
    """Single characters as people see them, without white space."""
    found, start = [], 0
    for character in graphemes(text):
        if not character.isspace():
            found.append(Span(start, start + len(character), character))
        start += len(character)
    return found


def _stretches(text: str, spans: Sequence[Span], same: set[int]) -> list[Piece]:
    found: list[Piece] = []
    position = 0
    for place, span in enumerate(spans):
        marked = place not in same
        joined = marked and found and found[-1][1] and not text[position : span.start].strip()
        if joined:
            found[-1] = (found[-1][0] + text[position : span.end], True)
        else:
            found += [(text[position : span.start], False), (text[span.start : span.end], marked)]
        position = span.end
    found.append((text[position:], False))
    return [piece for piece in found if piece[0]]
