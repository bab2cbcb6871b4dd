"""Tasks (HITs) as Huang & Baldwin 2023 (Appendix A) put them together: tuples to rate, some repeated, some degraded."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from babelquake.annotate.highlight import characters
from babelquake.annotate.material import Tuple
from babelquake.annotate.suggest import moved
from babelquake.data.ratings.table import BAD_REFERENCE, REPEAT, SYSTEM
from babelquake.errors import UserError, did_you_mean, setting
from babelquake.randomness import Stream
from babelquake.text import is_unspaced, without, words

BALANCE = ("victim", "recipe", "year")


@dataclass(frozen=True)
class Recipe:
    """The sizes of tasks; the defaults are the paper's."""

    rated: int = 70
    repeated: int = 15
    degraded: int = 15
    dropped: int = 4
    """Words dropped from each side of a degraded item."""
    annotators: int = 3
    """Copies of each task, each for another annotator."""
    seed: int = 0
    held_back: float | None = None
    """The share of tuples, drawn for every annotator, whose suggestions are not shown; None where there are none."""


@dataclass(frozen=True)
class Item:
    """One screen: a tuple, how it is meant, its texts as shown, the order of its sides, and what is suggested."""

    judged: Tuple
    type: str
    texts: Mapping[str, str]
    order: tuple[str, ...]
    suggestions: Mapping[str, Sequence[Mapping[str, Any]]]
    suggested: bool | None
    """Whether its suggestions are shown; None in projects without any."""


def balanced(tuples: Sequence[Tuple], by: Sequence[str], seed: int, wanted: int | None = None) -> list[Tuple]:
    """Tuples in an order in which every stretch is as even over the groups as it can be: drawn in turn from each."""
    for name in by:
        if not any(name in one.groups for one in tuples):
            known = sorted({column for one in tuples for column in one.groups})
            raise UserError(f"{setting('balance', name)}: the data have no such column. {did_you_mean(name, known)}")
    groups: dict[tuple[str, ...], list[Tuple]] = {}
    for one in tuples:
        groups.setdefault(tuple(one.groups.get(name, "") for name in by), []).append(one)
    queues = [Stream(seed, "tuples", *key).shuffled(groups[key]) for key in sorted(groups)]
    found: list[Tuple] = []
    turn = 0
    while any(queues):
        order = Stream(seed, "turn", turn).shuffled([queue for queue in queues if queue])
        found += [queue.pop() for queue in order]
        turn += 1
    return found[:wanted]


def hits(tuples: Sequence[Tuple], recipe: Recipe) -> Iterator[list[list[Item]]]:
    """Tasks in turn, each as its copies: the same items for every annotator, in their own order.

    Repeated and degraded items are drawn from the task's own tuples. The order of items, and of the two sides of each,
    is random in every copy.
    """
    if min(recipe.rated, recipe.annotators) < 1 or min(recipe.repeated, recipe.degraded, recipe.dropped) < 0:
        raise UserError("a task needs at least one rated item and one annotator; no number may be negative.")
    for number, start in enumerate(range(0, len(tuples), recipe.rated)):
        chunk = tuples[start : start + recipe.rated]
        items = [(one, SYSTEM, dict(one.texts)) for one in chunk]
        for kind, size in ((REPEAT, recipe.repeated), (BAD_REFERENCE, recipe.degraded)):
            drawn = Stream(recipe.seed, kind, number).sample(len(chunk), size)
            items += [(chunk[place], kind, _shown(chunk[place], kind, recipe)) for place in drawn]
        yield [_copy(items, recipe, number, copy) for copy in range(recipe.annotators)]


def training(tuples: Sequence[Tuple], recipe: Recipe) -> list[Item]:
    """Items to practise on, shown as the others are."""
    return _copy([(one, "TUTORIAL", dict(one.texts)) for one in tuples], recipe, -1, 0)


def _copy(items: Sequence[tuple[Tuple, str, dict[str, str]]], recipe: Recipe, number: int, copy: int) -> list[Item]:
    seed = recipe.seed
    shuffled = Stream(seed, "items", number, copy).shuffled(items)
    return [
        Item(
            one,
            kind,
            texts,
            tuple(Stream(seed, "sides", number, copy, place).shuffled(sorted(texts))),
            {side: moved(some, one.texts[side], texts[side]) for side, some in one.suggestions.items()},
            None if recipe.held_back is None else not Stream(seed, "held", copy, one.id).chance(recipe.held_back),
        )
        for place, (one, kind, texts) in enumerate(shuffled)
    ]


def _shown(one: Tuple, kind: str, recipe: Recipe) -> dict[str, str]:
    """The texts of an item. Of two sides both are degraded; of several systems half, so that the others are repeats."""
    if kind != BAD_REFERENCE:
        return dict(one.texts)
    spared: set[str] = set()
    different = sorted(set(one.texts.values()))
    if len(different) > 2:
        kept = Stream(recipe.seed, "spared", one.id).sample(len(different), len(different) // 2)
        spared = {different[place] for place in kept}
    return {
        side: text if text in spared else degraded(text, recipe.dropped, Stream(recipe.seed, "drop", text))
        for side, text in one.texts.items()
    }


def degraded(text: str, dropped: int, stream: Stream) -> str:
    """The text less some random words, never less all of them; characters where words are not set apart."""
    pieces = characters(text) if is_unspaced(text) else words(text)
    chosen = stream.sample(len(pieces), min(dropped, len(pieces) - 1)) if pieces else []
    return without(text, [pieces[place] for place in chosen])
