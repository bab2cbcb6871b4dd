"""From texts to a project file: `babelquake annotate prepare`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from babelquake.annotate.hits import BALANCE, Recipe, balanced, hits, training
from babelquake.annotate.material import on_screens, read_material
from babelquake.annotate.people import TRAINING
from babelquake.annotate.project import Project
from babelquake.annotate.protocols import protocol as protocol_of
from babelquake.annotate.suggest import with_suggestions
from babelquake.data.request import Targets
from babelquake.data.streams import label
from babelquake.errors import UserError, setting
from babelquake.paths import text_of_room

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
        "instructions": instructions or default_instructions(protocol),
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


def default_instructions(protocol: str) -> str:
    """The instructions a project begins with; they can be changed while it runs."""
    return text_of_room("annotate", f"instructions/{protocol}.md")
