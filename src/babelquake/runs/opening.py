"""Runs as Python names them: open ones or their folders, one or several."""

from collections.abc import Sequence
from pathlib import Path

from babelquake.runs.run import Run

AnyRun = Run | Path | str
"""A run, or the folder of one."""


def opened(runs: AnyRun | Sequence[AnyRun]) -> list[Run]:
    """The runs that were named."""
    given = [runs] if isinstance(runs, Run | Path | str) else runs
    return [run if isinstance(run, Run) else Run.open(run) for run in given]
