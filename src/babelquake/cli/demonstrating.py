"""`babelquake demo`: everything, offline, on the bundled data and models."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from babelquake.cli.guard import guarded
from babelquake.cli.options import Device, Executor, Offline, option, switch
from babelquake.paths import install_line
from babelquake.studies.options import StudyOptions


@guarded
def demo(
    out: Annotated[Path, option("--out -o", "PATH", "Where runs and the report go.")] = Path("demo"),
    open_report: Annotated[bool, switch("--open/--no-open", "Show the report in a browser.")] = False,
    restart: Annotated[bool, switch("--restart", "Delete earlier runs and start again.")] = False,
    executor: Executor = "local",
    device: Device = None,
    offline: Offline = False,
) -> None:
    """Shake three bundled translation models and up to five metrics, offline, and report it on one HTML page.

    Example: babelquake demo --out demo
    """
    from babelquake.cli.printing import print_table
    from babelquake.report.html import write_html
    from babelquake.report.pages import tables
    from babelquake.studies.demonstration import demonstrate, neural_metrics

    runs, engine = [], StudyOptions(data=(), cache="none", executor=executor).made_engine()
    for title, run in demonstrate(out, restart, engine):
        typer.echo(title)
        table = tables(run)[0]
        print_table(table)
        runs.append(run)
    target = out / "report.html"
    write_html(runs, target)
    if not neural_metrics():
        line = install_line("neural")
        typer.echo(f"With torch, the demo would add BERTScore and a learned metric to the second table: {line}")
    typer.echo(f"The report is {target.resolve()}")
    if open_report:
        webbrowser.open(target.resolve().as_uri())
