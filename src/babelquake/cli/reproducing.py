"""`babelquake demo`: everything, offline, on the bundled data and models.

`babelquake reproduce`: a paper's table, published and measured side by side.

`babelquake similarities`: what BERTScore sees when it compares two sentences.
"""

import webbrowser
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from babelquake.cli import options as opt
from babelquake.cli.guard import guarded
from babelquake.cli.options import option, print_json, switch
from babelquake.errors import UserError
from babelquake.paths import install_line
from babelquake.studies.options import StudyOptions


@guarded
def demo(
    out: Annotated[Path, option("--out -o", "PATH", "Where runs and the report go.")] = Path("demo"),
    open_report: Annotated[bool, switch("--open/--no-open", "Show the report in a browser.")] = False,
    restart: Annotated[bool, switch("--restart", "Delete earlier runs and start again.")] = False,
    executor: opt.Executor = "local",
    device: opt.Device = None,
    offline: opt.Offline = False,
) -> None:
    """Shake three bundled translation models and up to five metrics, offline, and report it on one HTML page.

    Example: babelquake demo --out demo
    """
    from babelquake.cli.printing import print_table, print_text
    from babelquake.report.html import write_html
    from babelquake.report.pages import tables
    from babelquake.report.verdict import sentences
    from babelquake.studies.demonstration import demonstrate, neural_metrics

    runs, engine = [], StudyOptions(data=(), cache="none", executor=executor).made_engine()
    for title, run in demonstrate(out, restart, engine):
        typer.echo(title)
        print_text(sentences(run)[0].text)
        print_table(tables(run)[0])
        runs.append(run)
    target = out / "report.html"
    write_html(runs, target)
    if not neural_metrics():
        line = install_line("neural")
        typer.echo(f"With torch, the demo would add BERTScore and a learned metric to the second table: {line}")
    typer.echo(f"The report is {target.resolve()}")
    if open_report:
        webbrowser.open(target.resolve().as_uri())


@guarded
def reproduce(
    paper: Annotated[
        str, typer.Argument(metavar="PAPER", help="A paper, such as niu2020. See: babelquake list papers")
    ],
    table: Annotated[
        str | None, typer.Argument(metavar="[TABLE]", help="table1, figure2 and so on; without it, list all.")
    ] = None,
    data: Annotated[Path | None, option("--data -d", "PATH", "Folder with the paper's data.")] = None,
    judge: Annotated[
        list[str] | None,
        option(
            "--judge --scorer",
            "NAME=SPEC",
            "Replace one of the table's scorers or systems; {run} is the name of the run; repeatable.",
        ),
    ] = None,
    runs: Annotated[
        list[str] | None,
        option("--from", "RUN=FOLDER", "Use a finished run instead of making one; repeatable."),
    ] = None,
    out: Annotated[Path, option("--out -o", "PATH", "Where runs and the page go.")] = Path("reproduced"),
    seed: opt.Seed = 0,
    limit: opt.Limit = None,
    resamples: Annotated[int | None, option("--resamples", "N", "Resamples.", min=100)] = None,
    sample: Annotated[int | None, option("--sample", "N", "Sentences to attack, where a table attacks.", min=1)] = None,
    max_queries: Annotated[
        int | None, option("--max-queries", "N", "Questions to a victim per sentence, where a table attacks.", min=1)
    ] = None,
    cache: opt.CacheFile = None,
    executor: opt.Executor = "local",
    device: opt.Device = None,
    offline: opt.Offline = False,
    quiet: opt.Quiet = False,
    as_json: opt.AsJson = False,
) -> None:
    """Measure a published table again and set both side by side; without a table, list what a paper has.

    Example: babelquake reproduce kanojia2021 table1 --data mlqe-pe

    Example: babelquake reproduce vu2022 table9 --from lt-en=runs/layers
    """
    from babelquake.cli.listing import SPARE, papers
    from babelquake.cli.printing import print_rows, print_table, print_text
    from babelquake.papers import paper as paper_of
    from babelquake.papers import reproduce as measured
    from babelquake.report.papers import reproduction_table, write_page

    card = paper_of(paper)
    if table is None:
        rows = [row for row in papers() if row["paper"] == paper]
        if as_json:
            print_json(rows)
        else:
            print_rows(rows, SPARE["papers"])
        return
    card.table(table)
    if runs and data is not None:
        raise UserError("--from uses finished runs, --data makes new ones. Use only one of them.")
    given = dict(item.partition("=")[::2] for item in judge or [])
    for name, spec in given.items():
        if not spec:
            raise UserError(f"--judge {name}: expected NAME=SPEC, such as COMET=comet.")
    options = {"resamples": resamples, "sample": sample, "max_queries": max_queries}
    found = measured(
        paper,
        table,
        data,
        out=out,
        judges=given,
        runs=runs or (),
        seed=seed,
        limit=limit,
        engine=StudyOptions(data=(), cache=cache, executor=executor, quiet=quiet).made_engine(),
        **{name: value for name, value in options.items() if value is not None},
    )
    page = write_page(found, out)
    if as_json:
        cells = [{**asdict(cell), "difference": cell.difference} for cell in found.cells]
        print_json({"paper": paper, "table": table, "cells": cells, "notes": found.notes})
        return
    if not quiet:
        print_table(reproduction_table(found))
        for note in found.notes:
            print_text(f"Note: {note}")
        typer.echo(f"Page: {page}")


@guarded
def similarities(
    translation: Annotated[str, typer.Argument(metavar="TRANSLATION", help="A sentence.")],
    reference: Annotated[list[str], option("--reference -r", "TEXT", "Text to compare with; repeatable.")],
    scorer: Annotated[
        list[str], option("--scorer -m", "SCORER", "bertscore[model=…,layer=first|best]: a matrix for each layer.")
    ],
    suite: Annotated[
        list[str] | None, option("--suite -p", "SUITE", "Compare with perturbed references too; repeatable.")
    ] = None,
    lang: Annotated[str, option("--lang -l", "LANG", "The language of the reference.")] = "en",
    seed: opt.Seed = 0,
    out: Annotated[Path | None, option("--out -o", "PATH", "Draw the matrices: a .png, .svg or .html file.")] = None,
    executor: opt.Executor = "local",
    device: opt.Device = None,
    offline: opt.Offline = False,
    as_json: opt.AsJson = False,
) -> None:
    """Show how alike the tokens of two sentences are to BERTScore, layer by layer (Vu et al. 2022, Figure 5).

    Example: babelquake similarities "A cat sat." -r "The cat sat." -m 'bertscore[model=minilm-en,layer=1|6]' -o m.svg
    """
    from babelquake.studies.similarities import similarities as matrices

    engine = StudyOptions(data=(), cache="none", executor=executor, quiet=True).made_engine()
    found = matrices(scorer, translation, reference, suite or (), lang=lang, seed=seed, engine=engine)
    if as_json:
        print_json([{**asdict(one), "cosines": one.cosines.round(6).tolist()} for one in found])
    if out is not None:
        from babelquake.report.similarities import write_similarities

        typer.echo(str(write_similarities(found, out)), err=as_json)
    elif not as_json:
        from babelquake.cli.printing import print_table
        from babelquake.report.similarities import match_table

        for one in found:
            print_table(match_table(one))
