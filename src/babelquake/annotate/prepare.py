"""From texts to a project file: `babelquake annotate prepare`."""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from babelquake.annotate.hits import BALANCE, Recipe, balanced, hits, training
from babelquake.annotate.material import read_material
from babelquake.annotate.people import TRAINING
from babelquake.annotate.project import Project
from babelquake.annotate.protocols import protocol as protocol_of
from babelquake.data.request import Targets
from babelquake.errors import UserError, setting

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
) -> Project:
    """Make a project: tasks of rated, repeated and degraded items, several copies each, and training items.

    The same inputs and seed give the same tasks. `practice` training items are taken from what is left over, or, where
    everything is rated, from the data at large. `columns` and `targets` say what is what in the data, as
    `babelquake.data.read` takes them; several data sets are rated as one.
    """
    rules, recipe = protocol_of(protocol), recipe or Recipe()
    if basis not in BASES:
        raise UserError(f"{setting('basis', basis)}: expected {', '.join(BASES)}.")
    material = read_material(what, protocol == "pairwise", columns, targets)
    if len(material[0].texts) != rules.sides:
        hint = "side-by-side or pairwise" if len(material[0].texts) == 2 else "da, sqm or esa"
        at_once = "two translations" if rules.sides == 2 else "one translation"
        raise UserError(f"{setting('protocol', protocol)} shows {at_once} at a time. For {what} use {hint}.")
    for need, shown in (("reference", ("reference", "both")), ("source", ("source", "both"))):
        if basis in shown and not any(getattr(one, need) for one in material):
            said = setting("basis", basis)
            raise UserError(f"{said}: {what} has no {need}s. Choose another basis, or add the column.")
    by = list(balance) if balance is not None else [name for name in BALANCE if name in material[0].groups]
    ordered = balanced(material, by, recipe.seed)
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
            project.add_task(database, TRAINING, 0, training(spare, recipe.seed))
        for number, copies in enumerate(hits(chosen, recipe), start=1):
            for copy, items in enumerate(copies, start=1):
                project.add_task(database, f"{number:04d}", copy, items)
    return project


def default_instructions(protocol: str) -> str:
    """The instructions a project begins with; they can be changed while it runs."""
    return files("babelquake.annotate").joinpath("instructions", f"{protocol}.md").read_text("utf-8")
