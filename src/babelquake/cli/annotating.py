"""`babelquake annotate`: collect human ratings."""

import json
from pathlib import Path
from typing import Annotated

import typer

from babelquake.cli import options as opt
from babelquake.cli.analysing import analyse
from babelquake.cli.guard import guarded
from babelquake.cli.options import Group, option, switch

HERE = "http://127.0.0.1:8000"
"""Where the app is by default."""
annotate = typer.Typer(cls=Group, rich_markup_mode=None, no_args_is_help=True)
annotate.command("analyse")(analyse)


@annotate.callback()
def group() -> None:
    """Collect human ratings of translations, and analyse them.

    Example: babelquake annotate prepare --from tuples.tsv --out project.db --invite ann
    """


@annotate.command("prepare")
@guarded
def prepare(
    source: Annotated[
        list[str],
        option("--from", "FROM", "An attack run, a table with original and perturbed, or data; repeat for several."),
    ],
    out: Annotated[Path, option("--out -o", "PATH", "The project file to make, e.g. project.db.")],
    columns: Annotated[
        list[str] | None,
        option("--columns", "COLUMNS", "Names of columns: source=src, or translation:VENDOR=col for several vendors."),
    ] = None,
    targets: Annotated[
        str, option("--as", "WHAT", "Read targets of XLIFF and TMX as reference, or as translation (by vendor).")
    ] = "reference",
    language_pair: opt.LanguagePair = None,
    protocol: Annotated[
        str, option("--protocol", "PROTOCOL", "side-by-side, da, sqm, esa, contrastive-esa or pairwise.")
    ] = "side-by-side",
    basis: Annotated[
        str, option("--basis", "BASIS", "What annotators see to judge against: reference, source or both.")
    ] = "reference",
    tuples: Annotated[int | None, option("--tuples", "N", "Tuples to rate; default: all.", min=1)] = None,
    rated: Annotated[int, option("--rated", "N", "Rated items in a task.", min=1)] = 70,
    repeated: Annotated[int, option("--repeated", "N", "Repeated items in a task.", min=0)] = 15,
    degraded: Annotated[int, option("--degraded", "N", "Degraded items in a task.", min=0)] = 15,
    dropped: Annotated[int, option("--dropped", "N", "Words to drop from each side of a degraded item.", min=1)] = 4,
    annotators: Annotated[int, option("--annotators", "N", "Annotators for every task.", min=1)] = 3,
    training: Annotated[int, option("--training", "N", "Training items shown first.", min=0)] = 3,
    balance: Annotated[
        str | None, option("--balance", "BALANCE", "Columns to balance over; default: victim,recipe,year.")
    ] = None,
    at_once: Annotated[
        int, option("--at-once", "N", "Most translations on a screen of contrastive-esa; more are drawn apart.", min=2)
    ] = 6,
    suggest: Annotated[
        list[str] | None,
        option("--suggest", "SUGGEST", "Suggest errors: failures, a scorer that marks errors, or a file; repeatable."),
    ] = None,
    held_back: Annotated[
        float, option("--held-back", "X", "Share of items shown without suggestions, to measure them.", min=0, max=1)
    ] = 0.25,
    context: Annotated[int, option("--context", "N", "Show this many preceding segments of the document.", min=0)] = 0,
    title: Annotated[str, option("--title", "TITLE", "Title that annotators see.")] = "Rating translations",
    instructions: Annotated[
        Path | None, option("--instructions", "PATH", "Markdown for annotators; default: the protocol's.")
    ] = None,
    invite: Annotated[
        list[str] | None, option("--invite", "INVITE", "An annotator's name; repeatable. Their link is printed.")
    ] = None,
    url: Annotated[str, option("--url", "URL", "Address of the app, for the links.")] = HERE,
    seed: opt.Seed = 0,
) -> None:
    """Make a project file: tasks of rated, repeated and degraded items, a copy for each of several annotators.

    Example: babelquake annotate prepare --from runs/attack --out project.db --invite ann --invite bob
    """
    from babelquake.annotate.collected import progress
    from babelquake.annotate.hits import Recipe
    from babelquake.annotate.people import add_annotator, new_admin_token
    from babelquake.annotate.prepare import prepare as make
    from babelquake.data.request import Targets

    project = make(
        source,
        out,
        columns=opt.columns_of(columns) or None,
        targets=opt.one_of("targets", targets, Targets),
        language_pair=language_pair,
        protocol=protocol,
        basis=basis,
        tuples=tuples,
        practice=training,
        context=context,
        title=title,
        balance=[name.strip() for name in balance.split(",") if name.strip()] if balance is not None else None,
        recipe=Recipe(rated, repeated, degraded, dropped, annotators, seed, held_back),
        at_once=at_once,
        suggest=suggest or (),
        instructions=instructions.read_text("utf-8") if instructions else None,
    )
    counts = progress(project)
    typer.echo(f"{out}: {counts['tasks']} tasks, {counts['items']} items, protocol {protocol}")
    typer.echo(f"Admin (keep it secret): {url.rstrip('/')}/admin/join/{new_admin_token(project)}")
    for name in invite or []:
        typer.echo(f"{name}: {url.rstrip('/')}/join/{add_annotator(project, name)}")
    typer.echo("These links are shown only once; `babelquake annotate status` makes new ones.")


@annotate.command("serve")
@guarded
def serve(
    project: Annotated[Path, typer.Argument(help="The project file.")],
    host: Annotated[
        str, option("--host", "HOST", "The address to listen on; 0.0.0.0 for every network.")
    ] = "127.0.0.1",
    port: Annotated[int, option("--port", "N", "The port to listen on.", min=0, max=65535)] = 8000,
    https: Annotated[
        bool, switch("--https", "For an app behind an HTTPS proxy: send cookies over HTTPS only.")
    ] = False,
    public_url: Annotated[
        str | None,
        option("--public-url", "URL", "Public address, for invitations; default: the address served."),
    ] = None,
) -> None:
    """Serve the rating app for a project, until interrupted. See docs/annotate.md before others can reach it.

    Example: babelquake annotate serve project.db --port 8000
    """
    from babelquake.annotate.serving import serve as run

    def tell(address: str) -> None:
        typer.echo(f"Serving {project} on {address}; press Ctrl-C to stop.", err=True)
        if (public_url or address) != HERE:
            typer.echo(f"Links that begin with {HERE} work with {public_url or address} in its place.", err=True)

    run(project, host, port, https, public_url or "", tell)


@annotate.command("backup")
@guarded
def backup(
    project: Annotated[Path, typer.Argument(help="The project file.")],
    out: Annotated[Path, typer.Argument(help="The copy to make.")],
) -> None:
    """Copy a project with every rating, while the app runs or not. A plain copy of the file lacks the latest ones.

    Example: babelquake annotate backup project.db project-2026-11-16.db
    """
    from babelquake.annotate.project import Project

    ratings = Project(project).backup(out)
    typer.echo(f"{out}: {ratings} ratings")


@annotate.command("status")
@guarded
def status(
    project: Annotated[Path, typer.Argument(help="The project file.")],
    add: Annotated[list[str] | None, option("--add", "ADD", "Invite an annotator; repeatable.")] = None,
    link: Annotated[list[str] | None, option("--link", "LINK", "A new link for an annotator; repeatable.")] = None,
    revoke: Annotated[list[str] | None, option("--revoke", "REVOKE", "Revoke an annotator's link; repeatable.")] = None,
    admin: Annotated[bool, switch("--admin", "A new link for the admin; the old one stops working.")] = False,
    url: Annotated[str, option("--url", "URL", "Address of the app, for the links.")] = HERE,
    as_json: opt.AsJson = False,
) -> None:
    """Show how far a project is; add and revoke annotators, while the app runs or not.

    Example: babelquake annotate status project.db --add cleo
    """
    from babelquake.annotate import people
    from babelquake.annotate.collected import progress
    from babelquake.annotate.project import Project

    opened = Project(project)
    links = {}
    for name in add or []:
        links[name] = f"{url.rstrip('/')}/join/{people.add_annotator(opened, name)}"
    for name in link or []:
        links[name] = f"{url.rstrip('/')}/join/{people.new_token(opened, name)}"
    for name in revoke or []:
        people.revoke(opened, name)
    if admin:
        links["admin"] = f"{url.rstrip('/')}/admin/join/{people.new_admin_token(opened)}"
    counts = progress(opened)
    if as_json:
        typer.echo(json.dumps({**counts, "links": links}, ensure_ascii=False))
        return
    from babelquake.cli.printing import print_rows

    typer.echo(
        f"{counts['finished']} of {counts['tasks']} tasks finished, {counts['rated']} of {counts['items']} items rated"
    )
    print_rows(
        [
            {**row, "revoked": "yes" if row["revoked"] else "", "latest": _minute(row["latest"])}
            for row in counts["annotators"]
        ]
    )
    for name, where in links.items():
        typer.echo(f"{name}: {where}")


def _minute(seconds: float | None) -> str:
    """A moment, to the minute, in UTC."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M") if seconds else ""
