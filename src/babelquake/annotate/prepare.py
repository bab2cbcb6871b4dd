"""From texts to a project file: `babelquake annotate prepare`.

Tasks (HITs) are put together as Huang & Baldwin 2023 (Appendix A) did: tuples to rate, some repeated, some degraded.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from babelquake.annotate.material import Tuple, on_screens, read_material
from babelquake.annotate.people import TRAINING
from babelquake.annotate.project import Item, Project
from babelquake.annotate.protocols import characters
from babelquake.annotate.protocols import protocol as protocol_of
from babelquake.annotate.suggest import moved, with_suggestions
from babelquake.data.dataset import Targets
from babelquake.data.ratings import BAD_REFERENCE, REPEAT, SYSTEM
from babelquake.data.streams import label
from babelquake.errors import UserError, did_you_mean, setting
from babelquake.paths import text_of_room
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


def balanced(tuples: Sequence[Tuple], by: Sequence[str], seed: int) -> list[Tuple]:
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
    return found


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


HELD_BACK = 0.25
"""The share of tuples without suggestions where nothing else is asked for."""
BASES = ("reference", "source", "both")


def prepare(
    what: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    protocol: str = "side-by-side",
    basis: str = "reference",
    recipe: Recipe | None = None,
    balance: Sequence[str] | None = None,
    tuples: int | None = None,
    practice: int = 3,
    context: int = 0,
    title: str = "Rating translations",
    instructions: str | None = None,
    columns: Mapping[str, str] | None = None,
    targets: Targets = "reference",
    language_pair: str | None = None,
    at_once: int = 6,
    suggest: Sequence[str] = (),
) -> Project:
    """Make a project: tasks of rated, repeated and degraded items, several copies each, and training items.

    Where all systems' translations of a source are judged together, at most `at_once` are on a screen. `suggest` says
    what marks errors beforehand: `failures`, scorers that mark errors, files of marked errors; the recipe's `held_back`
    is the share of tuples shown without.

    The same inputs and seed give the same tasks. `practice` training items are taken from what is left over, or, where
    everything is rated, from the data at large. `columns`, `targets` and `language_pair` say what is what in the data,
    as `babelquake.data.read` takes them; several data sets are rated as one.
    """
    rules, recipe = protocol_of(protocol), recipe or Recipe()
    if basis not in BASES:
        raise UserError(f"{setting('basis', basis)}: expected {', '.join(BASES)}.")
    if suggest and not rules.spans:
        raise UserError(
            f"{setting('suggest', suggest[0])}: {protocol} does not mark errors. Use esa or contrastive-esa."
        )
    recipe = replace(
        recipe, held_back=(HELD_BACK if recipe.held_back is None else recipe.held_back) if suggest else None
    )
    named = ", ".join(map(label, [what] if isinstance(what, str | Path) else what))
    material = read_material(what, rules.gather, columns, targets, language_pair)
    if rules.gather == "all":
        material = on_screens(material, at_once, recipe.seed)
    elif len(material[0].texts) != rules.sides:
        hint = "side-by-side or pairwise" if len(material[0].texts) == 2 else "da, sqm, esa or contrastive-esa"
        shown = "two translations" if rules.sides == 2 else "one translation"
        raise UserError(f"{setting('protocol', protocol)} shows {shown} at a time. For {named} use {hint}.")
    for need, bases in (("reference", ("reference", "both")), ("source", ("source", "both"))):
        if basis in bases and not any(getattr(one, need) for one in material):
            said = setting("basis", basis)
            raise UserError(f"{said}: {named} has no {need}s. Choose another basis, or add the column.")
    by = list(balance) if balance is not None else [name for name in BALANCE if name in material[0].groups]
    ordered = balanced(material, by, recipe.seed)
    if suggest:
        ordered = with_suggestions(ordered, suggest)
    chosen = ordered[:tuples]
    spare = (ordered[len(chosen) :] or ordered)[:practice]
    settings: dict[str, Any] = {
        "protocol": protocol,
        "basis": basis,
        "context": context,
        "title": title,
        "seed": recipe.seed,
        "recipe": recipe.__dict__,
        "balance": by,
        "instructions": instructions or text_of_room("annotate", f"instructions/{protocol}.md"),
        "admin": "",
    }
    project = Project.create(out, settings)
    with project.writing() as database:
        project.add_tuples(database, material)
        if spare:
            project.add_task(database, TRAINING, 0, training(spare, recipe))
        for number, copies in enumerate(hits(chosen, recipe), start=1):
            for copy, items in enumerate(copies, start=1):
                project.add_task(database, f"{number:04d}", copy, items)
    return project
