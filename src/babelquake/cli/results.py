"""What every study prints when it is done: verdict, notes, tables, examples behind the numbers, where the run is."""

from typing import TYPE_CHECKING, Any

import typer

from babelquake.cli.options import warn
from babelquake.escape import visible
from babelquake.runs.info import Said
from babelquake.runs.run import Run

if TYPE_CHECKING:
    from babelquake.cli.shared import Shared

SENTENCES = 5


def remember(run: Run, **said: Any) -> None:
    """Keep what the user said – data as they were named, columns, the suite – for the command a report prints."""
    command = Said.model_validate(said)
    if run.info.facts.command != command:
        run.info.facts.command = command
        run.save()


def show(run: Run, shared: "Shared", keep: bool = True) -> None:
    """Print a finished run, the verdict first, and put its report into the run folder where that is kept."""
    from babelquake.report.html import write_html

    page = run.folder / "report.html"
    if keep and not run.is_kept(page.name):
        write_html([run], page)
        run.keep(page.name)
        run.save()
    if shared.quiet:
        return
    if shared.as_json:
        typer.echo(run.measures.write_json())
        for note in run.info.notes:
            warn(visible(note))
        return
    _tell(run)
    if not shared.brief:
        _print_tables(run, shared, "the report" if keep else "--json")
    if keep:
        typer.echo(f"Run folder: {run.folder}")
        typer.echo(f"Report: {page}")


def _tell(run: Run) -> None:
    """The verdict in at most five lines, and what the reader must know."""
    from babelquake.cli.printing import print_text
    from babelquake.report.page import verdict

    found = verdict(run)
    for sentence in found[:SENTENCES]:
        print_text(sentence)
    if len(found) > SENTENCES:
        typer.echo(f"({len(found) - SENTENCES} more in the report)")
    for note in run.info.notes:
        print_text(f"Note: {note}")
    typer.echo()


def _print_tables(run: Run, shared: "Shared", elsewhere: str) -> None:
    from babelquake.cli.printing import print_table
    from babelquake.report.data_audit import audit_tables
    from babelquake.report.examples import example_table
    from babelquake.report.page import tables

    for table in [*tables(run), *audit_tables(run)]:
        print_table(table, elsewhere)
    if shared.examples:
        print_table(example_table(run, shared.examples, shared.sort))
