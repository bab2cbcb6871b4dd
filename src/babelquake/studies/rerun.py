"""A run made again from its run.json: are the numbers the same, and if not, what differs?"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from babelquake.data.reading import IN_MEMORY
from babelquake.errors import UserError
from babelquake.paths import temporary_folder
from babelquake.runs.info import command_line
from babelquake.runs.run import AnyRun, opened
from babelquake.studies.card import STUDIES, function_of
from babelquake.studies.compare import Differences, differences
from babelquake.studies.options import Entry, entries


def rerun(
    run: AnyRun, out: Path | str | None = None, *, fresh: bool = False, executor: str | None = None, **options: Any
) -> Differences:
    """Repeat a run, and say whether the numbers match and, if not, which version or file differs.

    `fresh` asks every system and scorer again. `options` replace those of the run: what only Python has, such as data
    that were a table, systems that were functions, is given again.
    """
    (old,) = opened(run)
    if old.info.finished is None:
        raise UserError(f"{old.folder} is not finished: the command that made it continues it: {command_line(old)}")
    study = STUDIES.get(old.info.study)
    known = {entry.name: entry for entry in entries(study.options)}
    stored = old.info.options
    given = {name: _read(entry, stored[entry.flag]) for name, entry in known.items() if entry.flag in stored}
    given.setdefault("data", old.info.words[len(study.words) :])  # those of a command that takes them by position
    if "data" not in options and given["data"] == [IN_MEMORY] and not Path(IN_MEMORY).exists():
        raise UserError(f"{old.folder} was made from a table in Python: repeat it there, with rerun(run, data=…).")
    elsewhere = {"cache": "none" if fresh else None, "executor": executor}
    given |= {name: value for name, value in elsewhere.items() if value is not None and name in known}
    folder = temporary_folder() / old.folder.name if out is None else out
    return differences(old, function_of(study.name)(**{"quiet": True} | given | options | {"out": folder}))


def _read(entry: Entry, value: Any) -> Any:
    """A value of run.json as Python has it."""
    return dict(pair.split("=", 1) for pair in value.split(",")) if entry.kind is Mapping else value
