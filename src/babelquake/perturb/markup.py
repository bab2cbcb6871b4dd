"""Markup: what software puts between words – tags, placeholders – and signs that models rarely saw."""

from typing import Literal

from babelquake.perturb.base import perturbation
from babelquake.perturb.typography import EMOJI
from babelquake.randomness import Stream
from babelquake.text import Span, replaced, words

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
