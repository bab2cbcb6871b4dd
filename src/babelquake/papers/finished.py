"""Cells from runs that are finished: made in pieces, on another machine, or for several tables at once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from babelquake.errors import UserError, setting
from babelquake.papers.paper import PaperTable
from babelquake.runs.run import Run
from babelquake.spec import Spec, parse

SAME = ("goal", "side")
"""Options without which a run answers another question than the table; a suite may hold more."""


@dataclass
class Measured:
    """What was measured for a table: measures by run, where they are, and what the reader must know."""

    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    runs: dict[str, Path] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    """The paper's name of a scorer → what its measures are called, where that is not what it was run as."""


def finished(card: PaperTable, given: Sequence[str]) -> Measured:
    """The measures of finished runs; `given` are folders, or `RUN=FOLDER` where the table has several runs."""
    found, parts = Measured(), dict[str, list[pl.DataFrame]]()
    limits, said = set[int | None](), list[tuple[str, list[str]]]()
    for name, folder in (_named(card, item) for item in given):
        run = Run.open(folder)
        _refuse_another(card, run)
        parts.setdefault(name, []).append(run.measures)
        found.runs.setdefault(name, run.folder)
        limits.add(run.info.options.get("limit"))  # type: ignore[arg-type]
        said.append((name, run.info.notes))
    found.tables = {name: pl.concat(tables, how="diagonal_relaxed") for name, tables in parts.items()}
    found.notes.append("Taken from finished runs.")
    found.notes += [f"Only the first {limit} segments were taken." for limit in limits if limit is not None]
    found.notes += notes_of(said)
    if absent := [name for name in card.runs if name not in parts]:
        found.notes.append(f"No run was given for: {', '.join(absent)}.")
    return found


def notes_of(said: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """What runs say of themselves: once where all say it, otherwise with the names of those that do."""
    holds: dict[str, dict[str, None]] = {}
    for run, notes in said:
        for note in notes:
            holds.setdefault(note, {})[run] = None
    every = {run for run, _ in said}
    return [note if set(runs) == every else f"{', '.join(runs)}: {note}" for note, runs in holds.items()]


def _named(card: PaperTable, item: str) -> tuple[str, Path]:
    """A run of the table, and its folder, whose name may hold an equals sign too."""
    name, _, folder = item.partition("=")
    if folder and name in card.runs:
        return name, Path(folder)
    if len(card.runs) > 1:
        known = ", ".join(card.runs)
        raise UserError(f"{setting('runs', item)}: expected RUN=FOLDER, where RUN is one of {known}.")
    return next(iter(card.runs)), Path(item)


def _refuse_another(card: PaperTable, run: Run) -> None:
    if run.info.study != card.study:
        raise UserError(f"{run.folder} is a run of '{run.info.study}'; this table needs one of '{card.study}'.")
    if run.info.status != "finished":
        raise UserError(f"{run.folder} is not finished. Repeat its command first.")
    for name in SAME:
        wanted, made = card.options.get(name), str(run.info.config.get(name))
        if wanted is not None and not is_one(parse(made), parse(wanted)):
            raise UserError(f"{run.folder} was made with {setting(name, made)}; this table needs {wanted}.")


def is_one(made: Spec, wanted: Spec) -> bool:
    """Whether a spec, written out, is what a shorter one says."""
    return made.name == wanted.name and set(wanted.options) <= set(made.options)
