"""`babelquake challenge`: challenge sets for metrics, there and back."""

import typer

from babelquake.cli.studying import study_command
from babelquake.studies.challenge.options import ChallengeOptions

challenge = typer.Typer(rich_markup_mode=None, no_args_is_help=True)


@challenge.callback()
def group() -> None:
    """Challenge sets for metrics: build one from a run, and measure what came back.

    Example: babelquake challenge score -d 1-submitted/condrift --returned 4-to_return/condrift --out runs/condrift
    """


challenge.command("score")(study_command("challenge", ChallengeOptions))
