"""`babelquake similarities`: what BERTScore sees when it compares two sentences."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from babelquake.cli import options as opt
from babelquake.cli.guard import guarded
from babelquake.cli.options import option
from babelquake.studies.options import StudyOptions


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
        rows = [{**asdict(one), "cosines": one.cosines.round(6).tolist()} for one in found]
        typer.echo(json.dumps(rows, ensure_ascii=False))
    if out is not None:
        from babelquake.report.similarities import write_similarities

        typer.echo(str(write_similarities(found, out)), err=as_json)
    elif not as_json:
        from babelquake.cli.printing import print_table
        from babelquake.report.similarities import match_table

        for one in found:
            print_table(match_table(one))
