"""What runs are called where several stand together."""

from collections.abc import Sequence
from pathlib import Path

from babelquake.runs.run import Run


def run_names(runs: Sequence[Run]) -> list[str]:
    """The names of their folders, with as many folders above as tell them apart: `main/run` and `branch/run`."""
    folders = [run.folder.absolute() for run in runs]
    for depth in range(1, max((len(folder.parts) for folder in folders), default=0)):
        names = [str(Path(*folder.parts[-depth:])) for folder in folders]
        if len(set(names)) == len(set(folders)):
            return names
    return [str(folder) for folder in folders]
