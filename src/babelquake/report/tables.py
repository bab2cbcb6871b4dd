"""The tables of a run, whichever study made it."""

from collections.abc import Callable

from babelquake.errors import UserError
from babelquake.report.metric.tables import metric_tables
from babelquake.report.mt.tables import translation_tables
from babelquake.report.qe.tables import quality_tables
from babelquake.report.table import Table
from babelquake.runs.run import Run

TABLES: dict[str, Callable[[Run], list[Table]]] = {
    "translation": translation_tables,
    "metric": metric_tables,
    "quality": quality_tables,
}


def tables(run: Run) -> list[Table]:
    """The tables people want to read first, in order."""
    if run.info.study not in TABLES:
        raise UserError(f"{run.folder} holds a {run.info.study} run; reports know {', '.join(TABLES)}.")
    return TABLES[run.info.study](run)
