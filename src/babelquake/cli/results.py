"""What every study prints when it is done: verdict, notes, tables, examples behind the numbers, where the run is."""

from typing import TYPE_CHECKING

import typer

from babelquake.cli.options import warn
from babelquake.escape import visible
from babelquake.runs.run import Run

if TYPE_CHECKING:
    from babelquake.cli.studying import Terminal
    from babelquake.studies.options import StudyOptions

SENTENCES = 5


def show(run: Run, options: "StudyOptions", terminal: "Terminal") -> None:
    """Print a finished run, the verdict first, and put its report into the run folder where that is kept."""
    keep = options.out is not None
    from babelquake.report.html import write_html

    page = run.folder / "report.html"
    if keep and not run.is_kept(page.name):
        write_html([run], page)
        run.keep(page.name)
        run.save()
    if options.quiet:
        return
    if terminal.as_json:
        typer.echo(as_json(run))
        for note in run.info.notes:
            warn(visible(note))
        return
    _tell(run)
    if not terminal.brief:
        _print_tables(run, terminal, "the report" if keep else "--json")
    if keep:
        typer.echo(f"Run folder: {run.folder}")
        typer.echo(f"Report: {page}")


def as_json(run: Run) -> str:
    """The run for other programs: the verdict in words and as data, notes, measures."""
    import json

    from babelquake.report.verdict import verdict
    from babelquake.studies.card import findings_of

    found = {
        "study": run.info.study,
        "verdict": verdict(run),
        "findings": [finding.model_dump(exclude_defaults=True) for finding in findings_of(run)],
        "notes": run.info.notes,
        "measures": json.loads(run.measures.write_json()),
    }
    return json.dumps(found, ensure_ascii=False)


def _tell(run: Run) -> None:
    """The verdict in at most five lines, and what the reader must know."""
    from babelquake.cli.printing import print_text
    from babelquake.report.verdict import told

    found = told(run)
    for sentence in found[:SENTENCES]:
        print_text(sentence.text, "bold red" if sentence.weight == "alarm" else "")
    if len(found) > SENTENCES:
        typer.echo(f"({len(found) - SENTENCES} more in the report)")
    for flag in run.info.facts.flags:
        where = f" ({flag.language_pair})" if flag.language_pair else ""
        print_text(f"! {flag.scorer}{where} {flag.text}")
    for note in run.info.notes:
        print_text(f"Note: {note}")
    typer.echo()


def _print_tables(run: Run, terminal: "Terminal", elsewhere: str) -> None:
    from babelquake.cli.printing import print_table
    from babelquake.report.data_audit import audit_tables
    from babelquake.report.examples import example_table
    from babelquake.report.page import tables

    for table in [*tables(run), *audit_tables(run)]:
        print_table(table, elsewhere)
    if terminal.examples:
        print_table(example_table(run, terminal.examples, terminal.sort))
