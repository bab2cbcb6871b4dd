"""`babelquake annotate analyse`: what ratings say."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from babelquake.cli import options as opt
from babelquake.cli.guard import guarded
from babelquake.cli.options import option, switch

if TYPE_CHECKING:
    from babelquake.data.ratings import Ratings
    from babelquake.report.verdict import Sentence
    from babelquake.studies.human.findings import Findings


SHOWN = ("rank", "system", "raw", "z", "segments", "ratings", "wins", "cluster_start", "cluster_end")
"""Columns of the ranking of systems."""
RANKS = ("rank", "wins", "cluster_start", "cluster_end")
"""Those that are not shown where quality control left too few ratings."""


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
    if out is not None:
        chosen = ["--language-pair", language_pair] if language_pair else []
        _keep(*analysed[0], out, [sources[0], *chosen], alpha, power, restart)
    if quiet:
        return
    if as_json:
        objects = [{"verdict": [one.text for one in _told(each)], **each.as_json()} for each in found]
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


def _keep(
    ratings: "Ratings", found: "Findings", out: Path, words: list[str], alpha: float, power: float, restart: bool
) -> None:
    """A run folder and its report page."""
    from babelquake.report.html import write_html
    from babelquake.studies.human.options import HumanOptions
    from babelquake.studies.human.study import keep

    chosen = HumanOptions(data=ratings.name, out=out, alpha=alpha, power=power, restart=restart)
    run = keep(found, ratings, chosen)
    run.info.words, run.info.options = (
        ["annotate", "analyse", *words],
        dict(chosen.said(ratings.name), exclude=found.facts.exclude),
    )
    run.info.options |= {"least": found.facts.least}
    run.info.options.pop("data", None)
    run.save()
    write_html([run], out / "report.html")


def _show(found: "Findings") -> None:
    from babelquake.cli.printing import print_rows, print_text
    from babelquake.studies.human.suggestions import OUTCOMES

    facts = found.facts
    if facts.ratings:
        people = "1 annotator" if facts.annotators_in_all == 1 else f"{facts.annotators_in_all} annotators"
        typer.echo(f"{found.name}: {facts.ratings} ratings by {people}")
    else:
        typer.echo(f"{found.name}: means of {found.segments.height} translations")
    said = _told(found)
    for sentence in said:
        print_text(sentence.text, "bold red" if sentence.weight == "alarm" else "")
    for note in found.notes:
        typer.echo(f"Note: {note}")
    if facts.seconds.median is not None:
        typer.echo(f"Time: {facts.seconds.median:.1f} s a rating (median)")
    for pair, agreed in found.agreement.items():
        if agreed.alpha_raw is not None or agreed.alpha_z is not None:
            shown = {
                name: _rounded(getattr(agreed, name))
                for name in ("alpha_raw", "alpha_z", "pearson", "kendall", "units")
            }
            print_rows([{"language_pair": pair, **shown}])
    if found.suggestions.height:
        typer.echo("Errors were suggested in some items, drawn at random. Per translation, with and without:")
        columns = ("about", "outcome", "with", "without", "difference", "low", "high", "p_corrected")
        rows = [{**row, "outcome": OUTCOMES[row["outcome"]]} for row in found.suggestions.to_dicts()]
        print_rows([{name: _rounded(row[name]) for name in columns} for row in rows])
        print_rows(found.suggestions_taken.to_dicts())
    rejected = any(sentence.weight == "alarm" for sentence in said)
    shown_of = [name for name in ("language_pair", *SHOWN) if not (rejected and name in RANKS)]
    print_rows(
        [{name: _rounded(row[name]) for name in shown_of} for row in found.systems.to_dicts()],
        spare=("ratings", "segments"),
    )
    if rejected:
        return
    neighbours = found.power.filter("neighbours").drop("neighbours").to_dicts()
    if neighbours:
        typer.echo("Neighbours that do not separate, and what it would take if the difference seen is the true one:")
        print_rows([{name: _rounded(value) for name, value in row.items()} for row in neighbours])


def _told(found: "Findings") -> "list[Sentence]":
    """What the ratings say, as a run of them would."""
    from babelquake.report.verdict import in_words
    from babelquake.runs.findings import in_order
    from babelquake.runs.measures import measures_frame
    from babelquake.runs.results import Results
    from babelquake.studies.human.measures import human_measures
    from babelquake.studies.human.study import findings_on

    results = Results(measures_frame(human_measures(found)).to_dicts())
    return in_words(in_order(findings_on(results, found.systems, found.facts.exclude)))


def _rounded(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value
