"""`babelquake qe`: does a quality-estimation model see what matters, and only that?"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from babelquake.cli import options as opt
from babelquake.cli.guard import guarded


@guarded
def qe(
    scorer: opt.Scorers,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="PATH", help="The run folder to make or to continue.")
    ] = None,
    suite: opt.Suites = None,
    threshold: Annotated[
        float, typer.Option("--threshold", metavar="X", help="Probe segments with this human score or more.")
    ] = 70.0,
    masked_lm: Annotated[
        str | None,
        typer.Option("--masked-lm", metavar="MASKED-LM", help="A masked language model for mask-replace (MAP6)."),
    ] = None,
    seed: opt.Seed = 0,
    replicates: opt.Replicates = None,
    resamples: opt.Resamples = 2000,
    data: opt.Data = None,
    source: opt.Source = None,
    reference: opt.Reference = None,
    limit: opt.Limit = None,
    columns: opt.Columns = None,
    language_pair: opt.LanguagePair = None,
    config: opt.Config = None,
    cache: opt.CacheFile = None,
    executor: opt.Executor = "local",
    restart: opt.Restart = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count segments and variants; score nothing.")] = False,
    examples: opt.Examples = 0,
    sort: opt.Sort = "drop",
    brief: opt.Brief = False,
    quiet: opt.Quiet = False,
    as_json: opt.AsJson = False,
) -> None:
    """Probe QE models with harmless and harmful changes of good translations: MPP, MAP, discrimination, flags.

    Example: babelquake qe -m chrf -d dev.ruen.df.short.tsv -d test20.ruen.df.short.tsv -o runs/qe
    """
    from babelquake.cli.results import Printed, remember, show
    from babelquake.errors import UserError
    from babelquake.perturb.suite import suite as suite_of
    from babelquake.studies.qe.selection import size
    from babelquake.studies.qe.study import qe as study

    named, suites = opt.columns_of(columns), suite or ["kanojia2021"]
    material = opt.read_data(data, named, language_pair, source=source, references=reference, limit=limit)
    chosen = suite_of(suites, replicates)
    if dry_run:
        counts = asdict(size(material, chosen, threshold=threshold, masked_lm=masked_lm))
        note = counts.pop("selection")
        typer.echo(json.dumps(counts) if as_json else f"{note}\n{counts['variants']} perturbed texts would be judged.")
        return
    if out is None:
        raise UserError("no run folder is named: give --out DIR.")
    run = study(
        scorer,
        material,
        chosen,
        out=out,
        threshold=threshold,
        masked_lm=masked_lm,
        seed=seed,
        resamples=resamples,
        restart=restart,
        engine=opt.engine_of(cache, quiet, executor),
    )
    remember(
        run,
        data=data or [],
        source=source,
        reference=reference,
        limit=limit,
        columns=named,
        language_pair=language_pair,
        replicates=replicates,
        suite=suites,
        masked_lm=masked_lm,
    )
    for flag in [] if as_json else run.info.facts.flags:
        where = f" ({flag.language_pair})" if flag.language_pair else ""
        typer.echo(f"! {flag.scorer}{where} {flag.text}")
    show(run, Printed(examples, sort, as_json, brief, quiet))
