"""What a perturbation may be handed beside the text: the reference, a foreign translation, the other segments, words.

A function asks for the first three by parameter name (`reference`, `foreign`, `others`). Whoever perturbs knows the
data; a perturbation sees what it asked for and nothing else. One that needs the words of a masked language model is a
generator that yields gaps and receives the words for them: perturbations stand below models and the engine, so they
call no model themselves. Whoever runs them hands in `fillers`; the gaps of many texts are asked for together, so that a
model sees full batches.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from babelquake.randomness import Stream
from babelquake.resource import Filler, Gap
from babelquake.text import Span, match_case, replaced


class Other(NamedTuple):
    """A segment of the data as another one sees it."""

    text: str
    source: str | None = None
    reference: str | None = None

    @property
    def identity(self) -> str:
        """What tells it from other segments: its source, or where there is none its text."""
        return self.source or self.text


@dataclass(frozen=True)
class Others:
    """The segments that stand in the data with one of them, in their order."""

    table: Sequence[Other] = ()
    place: int = 0
    """Where the segment itself stands."""

    def chain(self, count: int) -> list[Other] | None:
        """The segment and those after it, `count` together, from the start again behind the last; None if too few."""
        size = len(self.table)
        return [self.table[(self.place + step) % size] for step in range(count)] if 0 < count <= size else None

    def another(self, rng: Stream) -> Other | None:
        """A random segment of another source, whose text is another one and not blank; None where there is none."""
        if not self.table:
            return None
        own = self.table[self.place]
        start, size = rng.below(len(self.table)), len(self.table)
        walk = (self.table[(start + step) % size] for step in range(size))
        fitting = (one for one in walk if one.identity != own.identity and one.text != own.text)
        return next((one for one in fitting if one.text.strip()), None)


@dataclass(frozen=True)
class Beside:
    """Everything that one text may be handed."""

    reference: str | None = None
    foreign: str | None = None
    """The same source in another language than the text's."""
    others: Others = field(default_factory=Others)


ALONE = Beside()
"""Of a text that stands for itself."""
BESIDE = frozenset({"reference", "foreign", "others"})
"""The parameters that ask for it."""


class Rewritten(str):
    """A changed text whose source and reference changed with it: what is judged is the whole of it."""

    __slots__ = ("reference", "source")

    source: str | None
    reference: str | None

    def __new__(cls, text: str, source: str | None = None, reference: str | None = None) -> "Rewritten":
        """`None`: the segment's own."""
        made = super().__new__(cls, text)
        made.source, made.reference = source, reference
        return made


def beside_each(texts: Sequence[str], sources: Sequence[str | None]) -> list[Beside]:
    """What each of some texts may be handed where nothing else is known: the others."""
    table = [Other(*row) for row in zip(texts, sources, strict=True)]
    return [Beside(others=Others(table, place)) for place in range(len(table))]


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
