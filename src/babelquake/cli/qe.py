"""`babelquake qe`: does a quality-estimation model see what matters, and only that?"""

import json
from dataclasses import asdict
from typing import Annotated, Any

import typer

from babelquake.cli import options as opt
from babelquake.cli.options import option, switch
from babelquake.cli.shared import Shared, study_command


@study_command
def qe(
    shared: Shared,
    scorer: opt.ScorersOrImport = None,
    out: opt.MaybeOut = None,
    suite: opt.Suites = None,
    threshold: Annotated[float, option("--threshold", "X", "Probe segments with this human score or more.")] = 70.0,
    masked_lm: Annotated[
        str | None,
        option(
            "--masked-lm", "MODEL|none", "What mask-replace (MAP6) asks; default for English: minilm-en, which ships."
        ),
    ] = None,
    replicates: opt.Replicates = None,
    vocabulary: opt.Vocabulary = None,
    resamples: opt.Resamples = 2000,
    dry_run: Annotated[bool, switch("--dry-run", "Count segments and variants; score nothing.")] = False,
    export: opt.ExportTexts = None,
    import_: opt.ImportScores = None,
) -> None:
    """Probe QE models with harmless and harmful changes of good translations: MPP, MAP, discrimination, flags.

    Example: babelquake qe -m chrf -d dev.ruen.df.short.tsv -d test20.ruen.df.short.tsv -o runs/qe
    """
    from babelquake.studies.qe.exchange import export_qe_texts
    from babelquake.studies.qe.selection import size
    from babelquake.studies.qe.study import qe as study

    perturbing: dict[str, Any] = {"suite": suite or ["kanojia2021"], "replicates": replicates, "vocabulary": vocabulary}
    probing: dict[str, Any] = {**perturbing, "threshold": threshold, "masked_lm": masked_lm}
    material = shared.read_aloud() if export or dry_run else shared.read()
    if dry_run:
        counts = asdict(size(data=material, **probing))
        note = counts.pop("selection")
        told = f"{note}\n{counts['variants']} perturbed texts would be judged."
        typer.echo(json.dumps(counts) if shared.as_json else told)
        return
    if export:
        opt.told_exported(*export_qe_texts(folder=export, data=material, **probing, seed=shared.seed))
        return
    scorers = opt.judged_by(scorer, import_)
    run = study(scorers=scorers, data=material, **probing, out=opt.needed(out), resamples=resamples, **shared.how())
    for flag in [] if shared.as_json or shared.quiet else run.info.facts.flags:
        where = f" ({flag.language_pair})" if flag.language_pair else ""
        typer.echo(f"! {flag.scorer}{where} {flag.text}")
    shared.finish(run, **perturbing, masked_lm=masked_lm)
