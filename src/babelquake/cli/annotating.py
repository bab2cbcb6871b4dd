"""`babelquake annotate`: collect human ratings, and say what they say."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from babelquake.cli import options as opt
from babelquake.cli.guard import guarded
from babelquake.cli.options import Group, option, print_json, switch
from babelquake.errors import UserError, one_of
from babelquake.paths import temporary_folder

if TYPE_CHECKING:
    from babelquake.runs.run import Run
    from babelquake.studies.human.findings import Findings


@guarded
def analyse(
    sources: Annotated[
        list[str],
        typer.Argument(help="project.db, a table of ratings, Appraise's CSV or .seg.score; two files are compared."),
    ],
    exclude: Annotated[
        str | None, option("--exclude", "EXCLUDE", "What quality control removes: none, hits, annotators or both.")
    ] = None,
    least: Annotated[
        int | None, option("--least", "N", "Ratings a translation needs to count; default 1, or 3 in projects.", min=1)
    ] = None,
    alpha: Annotated[float, option("--alpha", "X", "Significance level of all tests.", min=0.0001, max=0.5)] = 0.05,
    power: Annotated[float, option("--power", "X", "Power to compute sample sizes for.", min=0.5, max=0.999)] = 0.8,
    export: Annotated[
        list[Path] | None, option("--export", "PATH", "Write segment means: .tsv, .parquet, .seg.score …; repeatable.")
    ] = None,
    score: Annotated[str, option("--score", "SCORE", "What to write to .seg.score files: z or raw.")] = "z",
    for_attack: Annotated[
        Path | None, option("--for-attack", "PATH", "Write tuple ratings in the form that attack --ratings reads.")
    ] = None,
    language_pair: opt.LanguagePair = None,
    out: Annotated[Path | None, option("--out -o", "PATH", "Run folder for the analysis, with a report.")] = None,
    dry_run: Annotated[
        bool, switch("--dry-run", "Count what there is to analyse and estimate the time; do nothing else.")
    ] = False,
    restart: opt.Restart = False,
    quiet: opt.Quiet = False,
    as_json: opt.AsJson = False,
) -> None:
    """Check the quality of ratings, standardise scores, measure agreement, and rank systems in clusters.

    Example: babelquake annotate analyse ratings.tsv --export means.seg.score
    """
    from babelquake.annotate.analyse import analyse as analyse_source
    from babelquake.report.verdict import verdict
    from babelquake.studies.human import HumanOptions
    from babelquake.studies.human.findings import export as write_export
    from babelquake.studies.human.findings import for_attack as as_tuples
    from babelquake.studies.human.people import campaign_agreement
    from babelquake.studies.human.study import keep

    one_of("score", score, Literal["z", "raw"])
    if len(sources) > 2:
        raise UserError(f"{len(sources)} files given. Use one, or two to compare them.")
    if dry_run:
        _forecast(sources, language_pair, as_json)
        return
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
    folders = [out or temporary_folder() / "first", temporary_folder() / "second"]
    runs = []
    for (ratings, one), source, folder in zip(analysed, sources, folders, strict=False):
        chosen = HumanOptions(
            data=source,
            exclude=one.facts.exclude,
            least=one.facts.least,
            language_pair=language_pair,
            alpha=alpha,
            power=power,
            out=folder,
            restart=restart,
        )
        runs.append(keep(one, ratings, chosen))
    if out is not None:
        from babelquake.report.html import write_html

        write_html(runs[:1], out / "report.html")
    if quiet:
        return
    if as_json:
        objects = [{"verdict": verdict(run), **one.as_json()} for run, one in zip(runs, found, strict=True)]
        print_json(objects[0] if between is None else {"campaigns": objects, "between": between})
        return
    for run, one in zip(runs, found, strict=True):
        _show(run, one)
    if between is not None:
        typer.echo(
            f"Agreement of the two campaigns over {between['n']} translations: "
            f"Pearson {between['pearson']:.3f}, Kendall's τ-c {between['tau_c']:.3f}"
        )
    if out is not None:
        typer.echo(f"Run folder: {out}")
        typer.echo(f"Report: {out / 'report.html'}")


def _forecast(sources: list[str], language_pair: str | None, as_json: bool) -> None:
    from babelquake.annotate.analyse import forecast
    from babelquake.engine.progress import duration

    found = [forecast(source, language_pair) for source in sources]
    if as_json:
        print_json(found[0] if len(found) == 1 else found)
        return
    for one in found:
        counted = f"{one['ratings']:,} ratings by {one['annotator']} annotators of {one['system']} systems"
        typer.echo(f"{one['name']}: {counted}, about {duration(float(one['seconds']))}. Nothing is sent.")


def _show(run: "Run", found: "Findings") -> None:
    from babelquake.cli.studying import print_tables, tell

    facts = found.facts
    if facts.ratings:
        people = "1 annotator" if facts.annotators_in_all == 1 else f"{facts.annotators_in_all} annotators"
        typer.echo(f"{found.name}: {facts.ratings} ratings by {people}")
    else:
        typer.echo(f"{found.name}: means of {found.segments.height} translations")
    tell(run)
    if facts.seconds.median is not None:
        typer.echo(f"Time: {facts.seconds.median:.1f} s a rating (median)")
    print_tables(run, "--json")


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
    from babelquake.annotate.analyse import progress
    from babelquake.annotate.people import add_annotator, new_admin_token
    from babelquake.annotate.prepare import Recipe
    from babelquake.annotate.prepare import prepare as make
    from babelquake.data.dataset import Targets

    project = make(
        source,
        out,
        columns=opt.columns_of(columns) or None,
        targets=one_of("targets", targets, Targets),
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
    from babelquake.annotate.analyse import progress
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
        print_json({**counts, "links": links})
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
