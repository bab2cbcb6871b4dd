"""How people judge: the protocols, and what a valid answer to each is, and what stands out in the texts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

from babelquake.errors import UserError, did_you_mean
from babelquake.text import Span, graphemes, is_unspaced, tokens

Gather = Literal["one", "two", "all"]
"""How a data set's translations of a segment come to a screen: one by one, every two, or all of them."""
MOST_SIDES = 26
"""Translations on one screen: each has a letter."""
LARGEST = 100
MISSING = "missing"
SEVERITIES = ("minor", "major")
MOST_SPANS = 500
ANCHORS = (
    (0, "No meaning preserved"),
    (33, "Some meaning preserved"),
    (66, "Most meaning preserved, few errors"),
    (100, "Perfect meaning and grammar"),
)
"""What points of the scale stand for in DA+SQM (Kocmi et al. 2022) and ESA (Kocmi et al. 2024)."""


class AnswerError(ValueError):
    """An answer that the protocol does not allow, in words for the annotator."""


@dataclass(frozen=True)
class Protocol:
    """What is on a screen and what comes back from it."""

    name: str
    title: str
    sides: int
    """How many translations are judged together; with `gather` all, at least so many."""
    gather: Gather = "one"
    scale: bool = True
    """Whether each translation gets a score from 0 to 100 on a slider."""
    anchors: bool = False
    """Whether the scale says what its points mean."""
    spans: bool = False
    """Whether errors are marked in the text."""
    highlight: bool = False
    """Whether words in which the translations differ stand out."""

    def answer(
        self,
        form: Mapping[str, str],
        panels: Sequence[Sequence[str]],
        lengths: Mapping[str, int],
        suggested: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    ) -> dict[str, Any]:
        """The answer a form holds: `scores` by side, and `spans` by side where errors are marked.

        `panels` are the sides behind each translation on the screen: two systems may say the same. A preference is 100
        for the better side and 0 for the other, 50 for both where neither is better. Sliders that were not touched are
        no answer. `suggestions` are those that were `suggested`, each with what became of it.
        """
        if not self.scale:
            return {"scores": _preference(form.get("preference", ""), [side for sides in panels for side in sides])}
        answer: dict[str, Any] = {"scores": {}} | ({"spans": {}} if self.spans else {})
        for place, sides in enumerate(panels):
            score = _score(form, place)
            answer["scores"] |= dict.fromkeys(sides, score)
            if self.spans:
                answer["spans"] |= dict.fromkeys(sides, _spans(form.get(f"spans{place}", ""), lengths[sides[0]]))
            if suggested:
                taken = _taken(form.get(f"taken{place}", ""), suggested.get(sides[0], ()))
                answer.setdefault("suggestions", {}).update(dict.fromkeys(sides, taken))
        return answer


PROTOCOLS: dict[str, Protocol] = {
    protocol.name: protocol
    for protocol in (
        Protocol("side-by-side", "Two translations, a score for each", 2, highlight=True),
        Protocol("da", "One translation, one score", 1),
        Protocol("sqm", "One translation, one score on a scale that says what its points mean", 1, anchors=True),
        Protocol("esa", "One translation: mark its errors, then score it", 1, anchors=True, spans=True),
        Protocol(
            "contrastive-esa",
            "All translations of a source: mark the errors of each, then score each",
            2,
            gather="all",
            anchors=True,
            spans=True,
        ),
        Protocol("pairwise", "Two translations: which is better?", 2, gather="two", scale=False, highlight=True),
    )
}


def protocol(name: str) -> Protocol:
    """The protocol of that name."""
    if name not in PROTOCOLS:
        raise UserError(f"no protocol is called '{name}'. {did_you_mean(name, PROTOCOLS)}")
    return PROTOCOLS[name]


def _score(form: Mapping[str, str], place: int) -> float:
    if form.get(f"touched{place}") != "1":
        raise AnswerError("Please move every slider before you go on.")
    text = form.get(f"score{place}", "")
    if not (text.isascii() and text.isdecimal() and len(text) <= 3 and int(text) <= LARGEST):
        raise AnswerError("A score must be a whole number from 0 to 100.")
    return float(text)


def _taken(text: str, suggested: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The suggestions shown for one translation, and whether each was accepted; None for those left alone."""
    try:
        given = json.loads(text or "[]")
    except (ValueError, RecursionError):
        given = None
    known = isinstance(given, list) and len(given) == len(suggested)
    if not known or any(one is not None and type(one) is not bool for one in given):
        raise AnswerError("What became of the suggestions could not be read.")
    return [{**one, "accepted": accepted} for one, accepted in zip(suggested, given, strict=True)]


def _preference(choice: str, sides: Sequence[str]) -> dict[str, float]:
    if choice == "equal":
        return dict.fromkeys(sides, 50.0)
    if choice not in ("0", "1"):
        raise AnswerError("Please say which translation is better, or that neither is.")
    return {side: 100.0 if place == int(choice) else 0.0 for place, side in enumerate(sides)}


def _spans(text: str, length: int) -> list[dict[str, Any]]:
    """Marked errors: character offsets into the text, or `missing`, and how severe each is."""
    try:
        given = json.loads(text or "[]")
    except (ValueError, RecursionError):
        raise AnswerError("The marked errors could not be read.") from None
    if not isinstance(given, list) or len(given) > MOST_SPANS:
        raise AnswerError("The marked errors could not be read.")
    found = []
    for span in given:
        if not isinstance(span, dict) or span.get("severity") not in SEVERITIES:
            raise AnswerError("Each marked error must be minor or major.")
        start, end = span.get("start_i"), span.get("end_i")
        omitted = start == end == MISSING
        if not omitted and not (type(start) is int and type(end) is int and 0 <= start < end <= length):
            raise AnswerError("A marked error lies outside the text.")
        found.append({"start_i": start, "end_i": end, "severity": span["severity"]})
    return found


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
