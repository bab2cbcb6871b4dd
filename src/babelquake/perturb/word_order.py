"""Words out of order."""

from babelquake.perturb.base import perturbation
from babelquake.perturb.linguistics import pieces
from babelquake.randomness import Stream
from babelquake.text import replaced


@perturbation(
    "word-swap",
    label="neighbouring words swapped",
    family="content words",
    meaning="depends",
    level=1,
    unit="pairs of neighbours",
    high=20.0,
)
def swap_words(text: str, level: float, rng: Stream) -> str | None:
    """Swap random neighbouring words: one pair by default.

    Neighbours have nothing but a space between them. Skipped where no two neighbours differ.
    """
    every, wanted = pieces(text), max(1, round(level))
    edits: list[tuple[int, int, str]] = []
    for left in rng.shuffled(range(len(every) - 1)):
        first, second = every[left], every[left + 1]
        between = text[first.end : second.start]
        free = not any(start < second.end and first.start < end for start, end, _ in edits)
        if free and first.text != second.text and (not between or between.isspace()):
            edits.append((first.start, second.end, second.text + between + first.text))
        if len(edits) == wanted:
            break
    return replaced(text, sorted(edits)) if edits else None


@perturbation(
    "word-order",
    label="words in random order",
    family="content words",
    meaning="altering",
    level=1.0,
    unit="share of words",
)
def shuffle_words(text: str, level: float, rng: Stream) -> str | None:
    """Put random words of the sentence in random order; punctuation stays. Skipped where no two words differ."""
    every = pieces(text)
    if len({word.text for word in every}) < 2:
        return None
    places = rng.sample(len(every), max(2, round(level * len(every))))
    order = rng.shuffled(places)
    if order == places:
        order = [*places[1:], places[0]]
    moved = [(every[to].start, every[to].end, every[source].text) for to, source in zip(places, order, strict=True)]
    return replaced(text, moved)
