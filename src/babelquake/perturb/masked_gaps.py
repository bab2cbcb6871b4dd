"""Perturbations that ask a masked language model: generators that yield gaps and receive the words for them.

Perturbations stand below models and the engine, so they call no model themselves. Whoever runs them hands in `fillers`;
the gaps of many texts are asked for together, so that a model sees full batches.
"""

from collections.abc import Callable, Generator, Sequence

from babelquake.randomness import Stream
from babelquake.resource import Filler, Gap
from babelquake.text import Span, match_case, replaced

Asking = Generator[list[Gap], list[Sequence[Filler]], str | None]
"""A change under way: yields gaps, receives for each the words a model offers, returns the changed text."""
Fillers = Callable[[str, Sequence[Gap], int], Sequence[Sequence[Filler]]]
"""Of a model's name, some gaps and a number: for each gap the model's likeliest words, that many or fewer."""


def filled(text: str, words: Sequence[Span], rng: Stream) -> Asking:
    """Replace words one after another, each drawn from the model's likeliest in proportion to probability.

    Later gaps see earlier replacements. None where the model offered no other word for any gap.
    """
    edits: list[tuple[int, int, str]] = []
    for word in words:
        (offers,) = yield [Gap(replaced(text[: word.start], edits), text[word.end :])]
        others = [offer for offer in offers if offer.word.lower() != word.text.lower()]
        if others:
            edits.append((word.start, word.end, match_case(_draw(others, rng), word.text)))
    return replaced(text, edits) if edits else None


def _draw(offers: Sequence[Filler], rng: Stream) -> str:
    left = rng.random() * sum(offer.probability for offer in offers)
    for offer in offers:
        left -= offer.probability
        if left < 0:
            return offer.word
    return offers[-1].word
