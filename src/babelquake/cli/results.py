"""What every study prints when it is done: its tables, its notes, examples behind the numbers, where the run is."""

from typing import Any

import typer

from babelquake.runs.info import Said
from babelquake.runs.run import Run


def remember(run: Run, **said: Any) -> None:
    """Keep what the user said – data as they were named, columns, the suite – for the command a report prints."""
    command = Said.model_validate(said)
    if run.info.facts.command != command:
        run.info.facts.command = command
        run.save()


def show(run: Run, examples: int, sort: str, as_json: bool, keep: bool = True) -> None:
    """Print a finished run, and put its report into the run folder where that is kept."""
    from babelquake.report.html import write_html

    page = run.folder / "report.html"
    if keep and not page.exists():
        write_html([run], page)
    if as_json:
        typer.echo(run.measures.write_json())
        return
    from babelquake.cli.printing import print_table
    from babelquake.report.data_audit import audit_tables
    from babelquake.report.examples import example_table
    from babelquake.report.page import tables

    for table in [*tables(run), *audit_tables(run)]:
        print_table(table.title, table.columns, table.rows, table.note)
    if examples:
        table = example_table(run, examples, sort)
        print_table(table.title, table.columns, table.rows, table.note)
    for note in run.info.notes:
        typer.echo(f"Note: {note}")
    if keep:
        typer.echo(f"Run folder: {run.folder}")
        typer.echo(f"Report: {page}")
