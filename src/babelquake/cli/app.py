"""All commands. Each module is light: what a command needs is imported when it runs."""

import typer

from babelquake.cli.annotating import annotate
from babelquake.cli.caching import cache
from babelquake.cli.correlating import correlate
from babelquake.cli.demonstrating import demo
from babelquake.cli.listing import list_things
from babelquake.cli.metric import metric
from babelquake.cli.mt import mt
from babelquake.cli.perturbing import perturb
from babelquake.cli.qe import qe
from babelquake.cli.reporting import compare, report
from babelquake.cli.training import train
from babelquake.version import VERSION

app = typer.Typer(
    name="babelquake",
    help="Shake a translation stack and measure what breaks: MT systems, metrics, quality estimation.",
    epilog="Try: babelquake demo",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo)
app.command("list")(list_things)
app.command("perturb")(perturb)
app.command("mt")(mt)
app.command("metric")(metric)
app.command("qe")(qe)
app.command("correlate")(correlate)
app.command("report")(report)
app.command("compare")(compare)
app.add_typer(annotate, name="annotate")
app.add_typer(train, name="train")
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
