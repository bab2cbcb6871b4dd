"""`babelquake mt`: how sturdy is a translation system?"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from babelquake.cli import options as opt
from babelquake.cli.options import option, switch
from babelquake.cli.shared import Shared, study_command

if TYPE_CHECKING:
    from babelquake.studies.mt.forecast import Forecast


@study_command
def mt(
    shared: Shared,
    system: Annotated[
        list[str] | None,
        option(
            "--system -s",
            "SYSTEM",
            "A system, e.g. bundled[model=de-en-bpe]; repeatable. Default: those whose translations the data hold.",
        ),
    ] = None,
    suite: opt.Suites = None,
    scorer: opt.Scorers = ["chrf", "bleu[lowercase=true]"],  # noqa: B006 – typer's way to give a repeatable default
    out: opt.MaybeOut = None,
    replicates: opt.Replicates = None,
    vocabulary: opt.Vocabulary = None,
    threshold: Annotated[
        float, option("--threshold", "X", "Sentence chrF below which a change is inconsistent.", min=0, max=100)
    ] = 75.0,
    reset: Annotated[
        str,
        option("--reset", "RESET", "Undo marks that follow the source's: auto (punctuation), paper, always, never."),
    ] = "auto",
    sample: Annotated[
        int | None, option("--sample", "N", "Of sentences with a full stop, N for final-… changes.", min=1)
    ] = None,
    deduplicate: Annotated[bool, switch("--deduplicate", "Keep the first of equal sources.")] = False,
    resamples: opt.Resamples = 10_000,
    dry_run: Annotated[bool, switch("--dry-run", "Count texts, characters and cost; send nothing.")] = False,
    export: Annotated[
        Path | None, option("--export", "PATH", "Write every distinct source to DIR/sources.txt and stop.")
    ] = None,
    import_: Annotated[
        Path | None, option("--import", "PATH", "Take each DIR/NAME.txt beside sources.txt as one system.")
    ] = None,
) -> None:
    """Measure how translations change when the source changes a little: ROBUST, CONSIS, % inconsistent.

    Example: babelquake mt -s 'bundled[model=de-en-bpe]' -d sample -p everyday -o runs/everyday
    """
    from babelquake.studies.mt.exchange import export_sources, imported_systems
    from babelquake.studies.mt.forecast import forecast, keep_within
    from babelquake.studies.mt.reset import Reset
    from babelquake.studies.mt.sources import DEFAULT_SUITE
    from babelquake.studies.mt.study import mt as study

    perturbing: dict[str, Any] = {"suite": suite, "replicates": replicates, "vocabulary": vocabulary}
    material = shared.read_aloud() if export or dry_run else shared.read()
    if export:
        written, count = export_sources(folder=export, data=material, **perturbing, seed=shared.seed, sample=sample)
        typer.echo(f"{count} distinct sources in {written}. Put each system's translations beside it as NAME.txt,")
        typer.echo(f"line for line, then run the same command with --import {export}.")
        return
    engine = shared.engine()
    systems = [*(system or []), *(imported_systems(import_) if import_ else [])]
    if dry_run:
        expected = forecast(
            systems=systems, data=material, **perturbing, seed=shared.seed, sample=sample, engine=engine
        )
        _print_forecast(expected, shared.as_json)
        if shared.budget is not None:
            keep_within(shared.budget, expected)
        return
    run = study(
        systems=systems,
        data=material,
        scorers=scorer,
        **perturbing,
        out=opt.needed(out),
        threshold=threshold,
        reset=opt.one_of("--reset", reset, Reset),
        sample=sample,
        deduplicate=deduplicate,
        resamples=resamples,
        budget=shared.budget,
        **shared.how(engine),
    )
    shared.finish(run, **{**perturbing, "suite": suite or ([DEFAULT_SUITE] if run.info.listed("suite") else [])})


def _print_forecast(expected: "Forecast", as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(asdict(expected), ensure_ascii=False))
        return
    typer.echo(f"{expected.segments} segments, {expected.texts} distinct sources, clean and perturbed.")
    for row in expected.systems:
        pair = f" {row.language_pair}" if len({other.language_pair for other in expected.systems}) > 1 else ""
        price_tag = f", about ${row.dollars:.2f}" if row.dollars is not None else ""
        typer.echo(f"{row.system}{pair}: {row.texts} still to send, {row.characters:,} characters{price_tag}")
