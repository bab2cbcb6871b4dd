"""A published table beside the measured one: for the terminal, Markdown and a separate page."""

import json
from dataclasses import replace
from pathlib import Path

from babelquake.files import deliver
from babelquake.papers import Cell, Reproduction
from babelquake.report.html import rendered
from babelquake.report.markdown import table_markdown
from babelquake.report.table import Table, is_numeric, number

MEASURED = ("published", "measured", "95 % interval", "n", "difference")


def reproduction_table(found: Reproduction) -> Table:
    """One row a cell: published, measured with its interval and n, the difference, and what was done differently.

    A number on too few segments is not shown.
    """
    marks = _marks(found)
    several = len(found.columns) > 1
    lines = tuple(
        (
            *((cell.row, cell.column) if several else (cell.row,)),
            _with_sd(cell.published, cell.published_sd, found.digits),
            *_shown(cell, found.digits),
            marks[cell.otherwise] if cell.otherwise else "",
        )
        for cell in found.shown
    )
    columns = (*(("row", "column") if several else ("row",)), *MEASURED, "note")
    note = " ".join(f"{mark} {reason}." for reason, mark in marks.items())
    return Table(f"{found.paper} {found.table}: {found.title}", columns, lines, note)


def _shown(cell: Cell, digits: int) -> tuple[str, str, str, str]:
    """What was measured, its interval, on how much it rests, and how far it is from what was published."""
    n = "" if cell.n is None else f"{cell.n:,}"
    if cell.too_few:
        return "", "", n, ""
    ends = [number(end, digits) for end in (cell.low, cell.high) if end is not None]
    deviation = cell.sd if cell.published_sd is not None else None
    return _with_sd(cell.measured, deviation, digits), " to ".join(ends), n, number(cell.difference, digits, sign=True)


def _with_sd(value: float | None, sd: float | None, digits: int) -> str:
    """A number, with its standard deviation where the paper prints one: `74.01 ±0.95`."""
    return number(value, digits) + ("" if value is None or sd is None else f" ±{number(sd, digits)}")


def write_page(found: Reproduction, folder: Path) -> Path:
    """The table as HTML, as Markdown and as stored results (JSON) in a folder; where the page is."""
    table = reproduction_table(found)
    flush = [is_numeric(column) for column in zip(*table.rows, strict=True)]
    page = rendered("paper.html", table=table, notes=found.notes, runs=found.runs, flush=flush)
    target = folder / f"{found.paper}-{found.table}.html"
    deliver(page, target)
    deliver(reproduction_markdown(found), target.with_suffix(".md"))
    deliver(_results(found), target.with_suffix(".json"))
    return target


def _results(found: Reproduction) -> str:
    """What was measured, one cell a line."""
    stored = found.stored()
    cells = ",\n".join(json.dumps(cell, ensure_ascii=False) for cell in stored["cells"])
    return f'{{"notes": {json.dumps(stored["notes"], ensure_ascii=False)},\n"cells": [\n{cells}\n]}}\n'


def reproduction_markdown(found: Reproduction) -> str:
    """The table, its marks explained line by line, and what the reader must know."""
    table = reproduction_table(found)
    marks = "".join(f"- {mark} {reason}\n" for reason, mark in _marks(found).items())
    marks = marks.replace("[", "\\[").replace("]", "\\]")
    notes = "".join(f"\n> {note}\n" for note in found.notes)
    page = table_markdown(replace(table, note="")).replace("## ", "# ", 1)
    return page + (f"\n{marks}" if marks else "") + notes


def _marks(found: Reproduction) -> dict[str, str]:
    """What was otherwise than in the paper, each with the mark that cells have."""
    reasons = dict.fromkeys(cell.otherwise for cell in found.shown if cell.otherwise)
    return {reason: f"[{place}]" for place, reason in enumerate(reasons, 1)}
