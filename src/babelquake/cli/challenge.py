"""`babelquake challenge`: challenge sets for metrics, there and back."""

from pathlib import Path
from typing import Annotated

import typer

from babelquake.cli.guard import guarded
from babelquake.cli.options import Group, option
from babelquake.cli.studying import study_command
from babelquake.studies.challenge import ChallengeOptions

challenge = typer.Typer(cls=Group, rich_markup_mode=None, no_args_is_help=True)


@challenge.callback()
def group() -> None:
    """Build challenge sets for metrics from a run, and measure what came back.

    Example: babelquake challenge score -d 1-submitted/condrift --returned 4-to_return/condrift --out runs/condrift
    """


@challenge.command("build")
@guarded
def build(
    run: Annotated[Path, option("--from", "RUN", "A run of metric, qe or attack.", exists=True, file_okay=False)],
    out: Annotated[Path, option("--out -o", "DIR", "The folder for the challenge set.")],
    layout: Annotated[str, option("--format", "FORMAT", "wmt25, wmt26 or contrastive.")] = "wmt25",
    name: Annotated[str, option("--name", "NAME", "What the set is called.")] = "challenge",
    seed: Annotated[int, option("--seed", "N", "Seed of the order of hypotheses.", min=0)] = 0,
) -> None:
    """Write the perturbed translations of a run as a challenge set for metrics.

    Example: babelquake challenge build --from runs/pitfalls --format wmt25 --out pitfalls --name pitfalls
    """
    from babelquake.studies.challenge.build import build_challenge

    count = build_challenge(run, layout, out, name=name, seed=seed)  # type: ignore[arg-type]
    typer.echo(f"{count:,} items in {out}. README: {out / f'{name}.README.txt'}")


challenge.command("score")(study_command("challenge", ChallengeOptions))
