"""The tables of a run, whichever study made it."""

from collections.abc import Callable

from babelquake.report.table import Table
from babelquake.report.translation_tables import translation_tables
from babelquake.run import Run

TABLES: dict[str, Callable[[Run], list[Table]]] = {"translation": translation_tables}


def tables(run: Run) -> list[Table]:
    """The tables people want to read first, in order."""
    return TABLES[run.info.study](run)
