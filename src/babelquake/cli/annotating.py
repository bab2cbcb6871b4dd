"""`babelquake annotate`: collect human ratings and say what they mean."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from babelquake.cli import options as opt
from babelquake.cli.guard import guarded

if TYPE_CHECKING:
    from babelquake.data.ratings import Ratings
    from babelquake.studies.human.findings import Findings

annotate = typer.Typer(help="Collect human ratings of translations, and analyse them.", no_args_is_help=True)


@annotate.command("prepare")
@guarded
def prepare(
    source: Annotated[
        str,
        typer.Option(
            "--from", metavar="FROM", help="An attack run, a table with original and perturbed, or any data set."
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="PATH", help="The project file to make, e.g. project.db.")
    ],
    protocol: Annotated[
        str, typer.Option("--protocol", metavar="PROTOCOL", help="side-by-side, da, sqm, esa or pairwise.")
    ] = "side-by-side",
    basis: Annotated[
        str, typer.Option("--basis", metavar="BASIS", help="Judged against: reference, source or both.")
    ] = "reference",
    tuples: Annotated[
        int | None, typer.Option("--tuples", min=1, metavar="N", help="Tuples to rate; default: all.")
    ] = None,
    rated: Annotated[int, typer.Option("--rated", min=1, metavar="N", help="Rated items in a task.")] = 70,
    repeated: Annotated[int, typer.Option("--repeated", min=0, metavar="N", help="Repeated items in a task.")] = 15,
    degraded: Annotated[int, typer.Option("--degraded", min=0, metavar="N", help="Degraded items in a task.")] = 15,
    dropped: Annotated[
        int, typer.Option("--dropped", min=1, metavar="N", help="Words dropped from each side of them.")
    ] = 4,
    annotators: Annotated[int, typer.Option("--annotators", min=1, metavar="N", help="Annotators for every task.")] = 3,
    training: Annotated[
        int, typer.Option("--training", min=0, metavar="N", help="Training items that come first.")
    ] = 3,
    balance: Annotated[
        str | None,
        typer.Option("--balance", metavar="BALANCE", help="Columns to balance over; default: victim,recipe,year."),
    ] = None,
    context: Annotated[
        int, typer.Option("--context", min=0, metavar="N", help="Segments before it in the document.")
    ] = 0,
    title: Annotated[
        str, typer.Option("--title", metavar="TITLE", help="What annotators see on top.")
    ] = "Rating translations",
    instructions: Annotated[
        Path | None,
        typer.Option("--instructions", metavar="PATH", help="Markdown for annotators; default: the protocol's."),
    ] = None,
    invite: Annotated[
        list[str] | None,
        typer.Option("--invite", metavar="INVITE", help="An annotator's name; repeatable. Their link is printed."),
    ] = None,
    url: Annotated[
        str, typer.Option("--url", metavar="URL", help="Where the app will be, for the links.")
    ] = "http://127.0.0.1:8000",
    seed: opt.Seed = 0,
) -> None:
    """Make a project file: tasks of rated, repeated and degraded items, a copy for each of several annotators.

    Example: babelquake annotate prepare --from runs/attack --out project.db --invite ann --invite bob
    """
    from babelquake.annotate.collected import progress
    from babelquake.annotate.hits import Recipe
    from babelquake.annotate.people import add_annotator, new_admin_token
    from babelquake.annotate.prepare import prepare as make

    project = make(
        source, out, protocol=protocol, basis=basis, tuples=tuples, practice=training, context=context, title=title,
        balance=[name.strip() for name in balance.split(",") if name.strip()] if balance is not None else None,
        recipe=Recipe(rated, repeated, degraded, dropped, annotators, seed),
        instructions=instructions.read_text("utf-8") if instructions else None,
    )  # fmt: skip
    counts = progress(project)
    typer.echo(f"{out}: {counts['tasks']} tasks, {counts['items']} items, protocol {protocol}")
    typer.echo(f"Admin (keep it secret): {url.rstrip('/')}/admin/join/{new_admin_token(project)}")
    for name in invite or []:
        typer.echo(f"{name}: {url.rstrip('/')}/join/{add_annotator(project, name)}")
    typer.echo("Links are shown this once; `babelquake annotate status` makes new ones.")


@annotate.command("serve")
@guarded
def serve(
    project: Annotated[Path, typer.Argument(help="The project file.")],
    host: Annotated[
        str, typer.Option("--host", metavar="HOST", help="The address to listen on; 0.0.0.0 for every network.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, metavar="N", help="The port to listen on.")] = 8000,
    https: Annotated[
        bool, typer.Option("--https", help="Behind a proxy that speaks HTTPS: cookies are never sent unencrypted.")
    ] = False,
) -> None:
    """Serve the rating app for a project, until interrupted. See docs/annotate.md before others can reach it.

    Example: babelquake annotate serve project.db --port 8000
    """
    from babelquake.annotate.serving import serve as run

    typer.echo(f"Serving {project} on http://{host}:{port}; Ctrl-C ends it.", err=True)
    run(project, host, port, https)


@annotate.command("status")
@guarded
def status(
    project: Annotated[Path, typer.Argument(help="The project file.")],
    add: Annotated[
        list[str] | None, typer.Option("--add", metavar="ADD", help="Invite an annotator; repeatable.")
    ] = None,
    link: Annotated[
        list[str] | None, typer.Option("--link", metavar="LINK", help="A new link for an annotator; repeatable.")
    ] = None,
    revoke: Annotated[
        list[str] | None, typer.Option("--revoke", metavar="REVOKE", help="Shut an annotator out; repeatable.")
    ] = None,
    admin: Annotated[
        bool, typer.Option("--admin", help="A new link for the admin; the old one stops working.")
    ] = False,
    url: Annotated[
        str, typer.Option("--url", metavar="URL", help="Where the app is, for the links.")
    ] = "http://127.0.0.1:8000",
    as_json: opt.AsJson = False,
) -> None:
    """How far a project is; also adds and revokes annotators, while the app runs or not.

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


@annotate.command("analyse")
@guarded
def analyse(
    sources: Annotated[
        list[str], typer.Argument(help="project.db, a table of ratings, Appraise's CSV, .seg.score; two are compared.")
    ],
    exclude: Annotated[
        str | None,
        typer.Option("--exclude", metavar="EXCLUDE", help="Quality control takes out: none, hits, annotators or both."),
    ] = None,
    least: Annotated[
        int | None,
        typer.Option(
            "--least", min=1, metavar="N", help="Ratings a translation needs to count; default 1, or 3 in projects."
        ),
    ] = None,
    alpha: Annotated[
        float, typer.Option("--alpha", min=0.0001, max=0.5, metavar="X", help="Level of all tests.")
    ] = 0.05,
    power: Annotated[
        float, typer.Option("--power", min=0.5, max=0.999, metavar="X", help="Power for sample sizes.")
    ] = 0.8,
    export: Annotated[
        list[Path] | None,
        typer.Option("--export", metavar="PATH", help="Write segment means: .tsv, .parquet, .seg.score …; repeatable."),
    ] = None,
    score: Annotated[str, typer.Option("--score", metavar="SCORE", help="What .seg.score files hold: z or raw.")] = "z",
    for_attack: Annotated[
        Path | None,
        typer.Option("--for-attack", metavar="PATH", help="Write ratings of tuples as the attack study takes them."),
    ] = None,
    language_pair: opt.LanguagePair = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A run folder to keep it in, with a report.")] = None,
    restart: opt.Restart = False,
    as_json: opt.AsJson = False,
) -> None:
    """Quality control, standardised scores, agreement, ranking with clusters, and what it would take to know more.

    Example: babelquake annotate analyse ratings.tsv --export means.seg.score
    """
    from babelquake.annotate.analyse import analyse as analyse_source
    from babelquake.errors import UserError
    from babelquake.studies.human.agreement import campaign_agreement
    from babelquake.studies.human.export import export as write_export
    from babelquake.studies.human.export import for_attack as as_tuples

    if score not in ("z", "raw"):
        raise UserError(f"--score {score}: expected z or raw.")
    if len(sources) > 2:
        raise UserError(f"{len(sources)} sources are named: give one, or two to compare.")
    analysed = [
        analyse_source(source, exclude=exclude, least=least, language_pair=language_pair, alpha=alpha, power=power)
        for source in sources
    ]
    found = [one for _, one in analysed]
    between = asdict(campaign_agreement(found[0].segments, found[1].segments)) if len(found) > 1 else None
    for path in export or []:
        write_export(found[0].segments, path, score)
    if for_attack:
        from babelquake.data import write

        write(as_tuples(found[0].segments), for_attack)
    if out is not None:
        _keep(*analysed[0], out, sources[0], alpha, power, restart)
    if as_json:
        objects = [one.as_json() for one in found]
        answer = objects[0] if between is None else {"campaigns": objects, "between": between}
        typer.echo(json.dumps(answer, ensure_ascii=False))
        return
    for one in found:
        _show(one)
    if between is not None:
        typer.echo(
            f"Agreement of the two campaigns over {between['n']} translations: "
            f"Pearson {between['pearson']:.3f}, Kendall's τ-c {between['tau_c']:.3f}"
        )
    if out is not None:
        typer.echo(f"Run folder: {out}")
        typer.echo(f"Report: {out / 'report.html'}")


def _keep(
    ratings: "Ratings", found: "Findings", out: Path, source: str, alpha: float, power: float, restart: bool
) -> None:
    """A run folder and its report page."""
    from babelquake.cli.results import remember
    from babelquake.report.html import write_html
    from babelquake.studies.human.study import keep

    run = keep(found, ratings, out, alpha=alpha, power=power, restart=restart)
    remember(run, words=["annotate", "analyse", source])
    write_html([run], out / "report.html")


def _show(found: "Findings") -> None:
    from babelquake.cli.printing import print_rows

    facts = found.facts
    typer.echo(f"{found.name}: {facts['ratings']} ratings by {facts['annotators_in_all']} annotators")
    for note in found.notes:
        typer.echo(f"Note: {note}")
    for what, share in (("tasks", facts["hits_passed"]), ("annotators", facts["annotators_passed"])):
        if share is not None:
            typer.echo(f"Quality control: {100 * share:.1f} % of the {what} that could be tested passed")
    if facts["seconds"]["median"] is not None:
        typer.echo(f"Time: {facts['seconds']['median']:.1f} s a rating (median)")
    for pair, agreed in found.agreement.items():
        if agreed["alpha_raw"] is not None or agreed["alpha_z"] is not None:
            shown = {name: _rounded(agreed[name]) for name in ("alpha_raw", "alpha_z", "pearson", "kendall", "units")}
            print_rows([{"language_pair": pair, **shown}])
    names = (
        "language_pair",
        "rank",
        "system",
        "raw",
        "z",
        "segments",
        "ratings",
        "wins",
        "cluster_start",
        "cluster_end",
    )
    print_rows([{name: _rounded(row[name]) for name in names} for row in found.systems.to_dicts()])
    if found.power.height:
        typer.echo("Neighbours that do not separate, and what it would take if the difference seen is the true one:")
        print_rows([{name: _rounded(value) for name, value in row.items()} for row in found.power.to_dicts()])


def _minute(seconds: float | None) -> str:
    """A moment, to the minute, in UTC."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M") if seconds else ""


def _rounded(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value
