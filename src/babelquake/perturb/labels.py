"""What people call a perturbation at a level: `typos (10 % of words)`, `ALL CAPS`, `final full stop missing`.

The typed name – `misspell`, `final-delete[mark=stop]` – stays in the data and on the command line.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from babelquake.errors import UserError
from babelquake.perturb.card import PERTURBATIONS, Card
from babelquake.spec import Spec, parse

NOUNS = {"per letter": "letters", "per word": "words"}
"""What a probability is of."""


GIVEN = {"raw": "raw text", "raw-spacy": "raw text, split by spaCy"}
"""Variants that data sets bring, where their name alone would puzzle."""
REPEAT = "repeat"
"""What a clean text that a system is asked for again is called among the perturbations."""


def label_of(perturbation: str, level: float | None = None, among: Iterable[str] = ()) -> str:
    """A perturbation as tables name it (without its level), and its level, in plain words.

    Options that its label does not speak of are added where another one `among` those shown differs in them alone.
    """
    if perturbation == REPEAT:
        return "asked again"
    found = _known(perturbation)
    if found is None:
        perturbation = GIVEN.get(perturbation, perturbation)
        return perturbation if level is None else f"{perturbation} (level {level:g})"
    card, spec = found
    said = _said(card, spec, level)
    rivals = [other for other in set(among) if other != perturbation and other.partition("[")[0] == card.name]
    if not any(_same(card, spec, other) for other in rivals):
        return said
    further = ", ".join(f"{name} {value}" for name, value in spec.options) or "as usual"
    return f"{said[:-1]}, {further})" if said.endswith(")") else f"{said} ({further})"


def known_card(perturbation: str) -> Card | None:
    """The card of a perturbation of ours or of a package; None for variants that came with the data."""
    found = _known(perturbation)
    return found[0] if found else None


def changed_by(perturbations: Iterable[str]) -> Literal["source", "prompt", "injection"]:
    """What these perturbations change: the prompt, the source by instructions inside it alone, or the source."""
    cards = [known_card(perturbation) for perturbation in perturbations if perturbation != REPEAT]
    if cards and all(card is not None and card.side == "prompt" for card in cards):
        return "prompt"
    if cards and all(card is not None and card.injects is not None for card in cards):
        return "injection"
    return "source"


@lru_cache(maxsize=1024)
def _known(perturbation: str) -> tuple[Card, Spec] | None:
    try:
        spec = parse(perturbation)
        return PERTURBATIONS.get(spec.name), spec
    except UserError:
        return None


def _same(card: Card, spec: Spec, other: str) -> bool:
    found = _known(other)
    return found is not None and _noun(card, found[1]) == _noun(card, spec)


def _noun(card: Card, spec: Spec) -> str:
    """The label without its level."""
    if not callable(card.label):
        return card.label or card.name.replace("-", " ")
    given = {name: parameter.default for name, parameter in card.options.items()} | dict(spec.options)
    return str(card.label(**{name: given[name] for name in card.options}))


def _said(card: Card, spec: Spec, level: float | None) -> str:
    noun = _noun(card, spec)
    if level is None:
        return noun.partition(" ({level}")[0]
    if "{level}" in noun:
        return noun.format(level=f"{100 * level:g} %")
    return noun + _level_text(card, level, noun)


def _level_text(card: Card, level: float, noun: str) -> str:
    """` (10 % of words)`; ` (10 %)` where the label names what is counted; nothing where all of it is changed."""
    kind, _, counted = card.unit.partition(";")[0].partition(",")[0].partition(" ")
    if kind not in ("share", "probability"):
        return f" ({level:g})"
    counted = NOUNS.get(counted, counted.removeprefix("of "))
    if level == 1:
        return ""
    share = f"{100 * level:g} %"
    return f" ({share} of {counted})" if counted and counted not in noun else f" ({share})"
