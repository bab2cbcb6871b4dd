"""All commands. Each module is light: what a command needs is imported when it runs."""

from typing import Any

import typer

from babelquake.cli.annotating import annotate
from babelquake.cli.guard import guarded
from babelquake.cli.listing import cache, list_things
from babelquake.cli.options import Group
from babelquake.cli.perturbing import augment, perturb
from babelquake.cli.reporting import compare, report, rerun
from babelquake.cli.reproducing import demo, reproduce, similarities
from babelquake.cli.studying import challenge, check_command, scoring_command, study_command
from babelquake.cli.training import neighbours, train
from babelquake.studies.attack import AttackOptions
from babelquake.studies.correlate import CorrelateOptions
from babelquake.studies.metric import MetricOptions
from babelquake.studies.mt import MtOptions
from babelquake.studies.qe import QeOptions
from babelquake.version import VERSION

COMMANDS = "babelquake.commands"
"""Entry points of this group are commands that other packages bring: functions with typer's annotations."""


class Commands(Group):
    """Our commands, and after them those of other packages; a built-in name always wins."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All names."""
        ours = super().list_commands(ctx)
        return [*ours, *(name for name in _plugged_in() if name not in ours)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name."""
        found: Any = super().get_command(ctx, cmd_name)
        if found is None and cmd_name in (points := _plugged_in()):
            single = typer.Typer(add_completion=False, rich_markup_mode=None)
            single.command(cmd_name)(guarded(points[cmd_name].load()))
            found = typer.main.get_command(single)
        return found


def _plugged_in() -> dict[str, Any]:
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=COMMANDS)}


app = typer.Typer(
    name="babelquake",
    cls=Commands,
    help="Shake a translation stack and measure what breaks: MT systems, metrics, quality estimation.",
    epilog="Try: babelquake demo",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo)
app.command("list")(list_things)
app.command("perturb")(perturb)
app.command("augment")(augment)
app.command("mt")(study_command("mt", MtOptions))
app.command("metric")(scoring_command("metric", MetricOptions))
app.command("qe")(scoring_command("qe", QeOptions))
app.command("attack")(study_command("attack", AttackOptions))
app.command("check")(check_command())
app.command("correlate")(study_command("correlate", CorrelateOptions))
app.command("similarities")(similarities)
app.command("report")(report)
app.command("compare")(compare)
app.command("reproduce")(reproduce)
app.command("rerun")(rerun)
app.add_typer(annotate, name="annotate")
app.add_typer(challenge, name="challenge")
app.add_typer(train, name="train")
app.add_typer(neighbours, name="neighbours")
app.command("cache")(cache)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"babelquake {VERSION}")
        raise typer.Exit


@app.callback()
def common(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """Shake a translation stack and measure what breaks: MT systems, metrics, quality estimation."""
