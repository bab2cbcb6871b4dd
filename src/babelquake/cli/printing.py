"""Tables in the terminal: as wide as the terminal, or as wide as they need to be when piped."""

import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table


def console() -> Console:
    """Standard output; wide where it is not a terminal, so that nothing is cut in a file."""
    return Console(width=None if sys.stdout.isatty() else 240, highlight=False)


def print_rows(rows: Sequence[dict[str, Any]]) -> None:
    """Rows of equal keys as a plain table."""
    if not rows:
        console().print("(nothing)")
        return
    print_table("", list(rows[0]), [[_shown(value) for value in row.values()] for row in rows])


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], note: str = "") -> None:
    """A table with a title above and a note below."""
    table = Table(
        title=escape(title) if title else None, title_justify="left", box=None, pad_edge=False, header_style="bold"
    )
    for place, column in enumerate(columns):
        numeric = bool(rows) and all(_is_number(row[place]) for row in rows)
        table.add_column(escape(column), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    out = console()
    out.print(table)
    if note:
        out.print(escape(note), style="dim")
    out.print()


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _is_number(text: str) -> bool:
    bare = text.strip().strip("*+-−±%").replace(",", "")
    return not bare or bare[0].isdigit()
