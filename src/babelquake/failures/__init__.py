"""Failures: what is wrong with a translation, seen without a reference. One module per family of detectors.

>>> detect("Er zahlte 25 Euro.", "He paid 52 euros.", "de-en")
[Failure(kind='number', score=1.0, evidence='lost: 25; added: 52', spans=((8, 10),))]
"""

from collections.abc import Iterable, Sequence

from babelquake.failures.base import COSTS, DETECTORS, Card, Cost, Failure, Need, detector
from babelquake.failures.pair import Exchange, Injection, Pair
from babelquake.languages import Language, LanguagePair

__all__ = [
    "DETECTORS",
    "WITHOUT_MODEL",
    "Card",
    "Exchange",
    "Failure",
    "Injection",
    "Pair",
    "cards_for",
    "detect",
    "detector",
    "failures_in",
]
WITHOUT_MODEL: tuple[Cost, ...] = ("free", "identifier")
"""What every study can afford: no neural model."""


def cards_for(
    source: Language | None,
    target: Language | None,
    kinds: Iterable[str] | None = None,
    *,
    sources: bool = True,
    injected: bool = False,
    exchanged: bool = False,
    lines: bool = False,
    costs: Sequence[Cost] = WITHOUT_MODEL,
) -> list[Card]:
    """The detectors that can speak about translations between two languages; of all kinds, or of those named.

    `sources` says whether the sources are known; `injected` are sources with an instruction inside, beside which the
    clean ones are known; `exchanged` are answers of which is known what was sent for them, `lines` those to documents
    with one sentence a line.
    """
    told: dict[Need, bool] = {"source": sources, "injection": injected, "exchange": exchanged, "lines": lines}
    there = [need for need, known in told.items() if known]
    wanted = [DETECTORS.get(kind) for kind in kinds] if kinds is not None else [card for _, card in DETECTORS.items()]
    served = [card for card in wanted if card.cost in costs and card.serves(source, target, there)]
    return sorted(served, key=lambda card: (COSTS.index(card.cost), card.kind))


def failures_in(pair: Pair, cards: Iterable[Card]) -> list[Failure]:
    """What is wrong with one translation, one failure of each kind at most."""
    return [failure for card in cards if (failure := card.function(pair)) is not None]


def detect(
    source: str | None, translation: str, language_pair: str | None = None, kinds: Iterable[str] | None = None
) -> list[Failure]:
    """What is wrong with a translation; see `babelquake list failures` for the kinds."""
    languages = LanguagePair(language_pair) if language_pair else None
    ours, theirs = (languages.source, languages.target) if languages else (None, None)
    cards = cards_for(ours, theirs, kinds, sources=source is not None)
    return failures_in(Pair(source, translation, ours, theirs), cards)
