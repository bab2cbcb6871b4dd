"""Tables in the terminal: as wide as the terminal, or as wide as they need to be when piped."""

import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table as Drawn

from babelquake.escape import visible
from babelquake.report.table import Table, is_numeric

PIPED = 240
FOLDED = 22
"""What a column of words can be folded to."""
GAP = 2
"""Blanks between columns."""


def console() -> Console:
    """Standard output; wide where it is not a terminal, so that nothing is cut in a file."""
    return Console(width=None if sys.stdout.isatty() else PIPED, highlight=False)


def print_rows(rows: Sequence[dict[str, Any]], spare: tuple[str, ...] = ()) -> None:
    """Rows as a plain table; a key that a row lacks is a blank cell. A narrow terminal does without `spare` columns."""
    if not rows:
        console().print("(nothing)")
        return
    columns = tuple(dict.fromkeys(key for row in rows for key in row))
    lines = tuple(tuple(_shown(row.get(key)) for key in columns) for row in rows)
    print_table(Table("", columns, lines, spare=spare), "--json")


def print_table(table: Table, elsewhere: str = "the report") -> None:
    """A table with a title above and a note below; numbers are never broken over two lines.

    A name that the line above has too is not said again; in a column without a name stand marks, which are.
    """
    out = console()
    fitted, left_out = fitting(table, out.width)
    if table.title:
        out.print(escape(visible(table.title)), style="italic")
    drawn = Drawn(box=None, pad_edge=False, header_style="bold", padding=(0, GAP, 0, 0))
    cells = list(zip(*fitted.rows, strict=True)) or [()] * len(fitted.columns)
    for name, column in zip(fitted.columns, cells, strict=True):
        numeric = is_numeric(column)
        drawn.add_column(
            escape(_folded(visible(name))), justify="right" if numeric else "left", no_wrap=numeric, overflow="fold"
        )
    above, tight = "", natural_width(fitted, most=PIPED) > out.width
    for row in fitted.rows:
        first = "" if row[0] == above and fitted.columns[0] and len(row) > 2 else row[0]
        above = row[0]
        drawn.add_row(*(escape(_name(visible(cell), tight)) for cell in (first, *row[1:])))
    out.print(drawn)
    if left_out:
        out.print(
            escape(f"Columns left out: {', '.join(left_out)}; see {elsewhere}."),
            style="dim",
        )
    if table.note:
        out.print(escape(visible(table.note)), style="dim")
    out.print()


def fitting(table: Table, width: int) -> tuple[Table, list[str]]:
    """The table without as many columns as it takes to fit: blank ones, then spare ones, whose names are given."""
    if natural_width(table) > width:
        for column, *cells in zip(table.columns, *table.rows, strict=True):
            table = table.without(column) if cells and not any(cells) else table
    left_out = []
    for column in table.spare:
        if natural_width(table) <= width:
            break
        if column in table.columns:
            table = table.without(column)
            left_out.append(column)
    return table, left_out


def natural_width(table: Table, most: int = FOLDED) -> int:
    """Characters that the columns take side by side; words longer than `most` may be folded, numbers may not."""
    found = 0
    for name, *cells in zip(table.columns, *table.rows, strict=True):
        longest = max(map(len, (*_folded(name).split("\n"), *cells)))
        found += GAP + (longest if is_numeric(tuple(cells)) else min(longest, most))
    return found - GAP


def _name(cell: str, tight: bool) -> str:
    """A name such as `bertscore[model=minilm-en]` is broken where its parts meet, not before its last bracket."""
    return _folded(cell) if tight and " " not in cell else cell


def _folded(name: str) -> str:
    """The name of a column on lines of a bounded length, broken after a comma or bracket where there is one."""
    lines = []
    while len(name) > FOLDED:
        part = name[:FOLDED]
        end = max(part.rfind(mark) for mark in " ,[=/") + 1 or FOLDED
        lines.append(name[:end])
        name = name[end:]
    return "\n".join([*lines, name])


def print_text(text: str, style: str = "") -> None:
    """A sentence, broken between words."""
    console().print(escape(visible(text)), style=style or None)


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
