"""A table as every writer needs it – terminal, Markdown, LaTeX, HTML: a title, columns, rows of text, a note."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Table:
    """A finished table; every cell is text."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def number(value: float | None, digits: int = 1, sign: bool = False) -> str:
    """A number as tables print it; nothing where there is none."""
    if value is None:
        return ""
    text = f"{value:{'+' if sign else ''}.{digits}f}"
    return text.replace("-", "−") if float(text) else text.lstrip("+-")


def with_sd(row: dict[str, Any] | None, digits: int = 2) -> str:
    """`74.01 ±0.95`, as Niu 2020 Table 3."""
    if row is None or row["value"] is None:
        return ""
    deviation = f" ±{row['sd']:.{digits}f}" if row["sd"] is not None else ""
    return number(row["value"], digits) + deviation


def interval(row: dict[str, Any], digits: int = 2) -> str:
    """The 95 % interval of a difference: `[−1.20, +0.31]`."""
    if row["low"] is None or row["high"] is None:
        return ""
    return f"[{number(row['low'], digits, sign=True)}, {number(row['high'], digits, sign=True)}]"


def is_numeric(column: tuple[str, ...]) -> bool:
    """Whether all cells that hold anything begin like numbers; such columns are set flush right."""
    bare = [cell.lstrip("[+−-") for cell in column if cell]
    return bool(bare) and all(cell[:1].isdigit() for cell in bare)


def stars(p: float | None) -> str:
    """Significance after correction: * below 5 %, ** below 1 %, *** below 0.1 %."""
    if p is None:
        return ""
    return "***" if p < 0.001 else "**" if p < 0.01 else "*" if p < 0.05 else ""


STARS_NOTE = "* p < .05, ** p < .01, *** p < .001, paired bootstrap, Holm-corrected over all tests of the run."
