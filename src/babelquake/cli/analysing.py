"""`babelquake annotate analyse`: what ratings say."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from babelquake.cli import options as opt
from babelquake.cli.guard import guarded
from babelquake.cli.options import option, switch

if TYPE_CHECKING:
    from babelquake.data.ratings import Ratings
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
    from babelquake.errors import UserError
    from babelquake.paths import passing_folder
    from babelquake.report.verdict import verdict
    from babelquake.studies.human.findings import export as write_export
    from babelquake.studies.human.findings import for_attack as as_tuples
    from babelquake.studies.human.people import campaign_agreement

    opt.one_of("score", score, Literal["z", "raw"])
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
    chosen = ["--language-pair", language_pair] if language_pair else []
    folders = [out or passing_folder() / "first", passing_folder() / "second"]
    runs = [
        _kept(*one, folder, [source, *chosen], alpha, power, restart)
        for one, source, folder in zip(analysed, sources, folders, strict=False)
    ]
    if out is not None:
        from babelquake.report.html import write_html

        write_html(runs[:1], out / "report.html")
    if quiet:
        return
    if as_json:
        objects = [{"verdict": verdict(run), **one.as_json()} for run, one in zip(runs, found, strict=True)]
        answer = objects[0] if between is None else {"campaigns": objects, "between": between}
        typer.echo(json.dumps(answer, ensure_ascii=False))
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
        typer.echo(json.dumps(found[0] if len(found) == 1 else found, ensure_ascii=False))
        return
    for one in found:
        counted = f"{one['ratings']:,} ratings by {one['annotator']} annotators of {one['system']} systems"
        typer.echo(f"{one['name']}: {counted}, about {duration(float(one['seconds']))}. Nothing is sent.")


def _kept(
    ratings: "Ratings", found: "Findings", folder: Path, words: list[str], alpha: float, power: float, restart: bool
) -> "Run":
    """What was found as a run, and the command that makes it again."""
    from babelquake.studies.human import HumanOptions
    from babelquake.studies.human.study import keep

    chosen = HumanOptions(data=ratings.name, out=folder, alpha=alpha, power=power, restart=restart)
    run = keep(found, ratings, chosen)
    run.info.words = ["annotate", "analyse", *words]
    run.info.options = dict(chosen.said(ratings.name), exclude=found.facts.exclude, least=found.facts.least)
    run.info.options.pop("data", None)
    run.save()
    return run


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
