"""A table as every writer needs it – terminal, Markdown, LaTeX, HTML: a title, columns, rows of text, a note."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import regex

from babelquake.perturb.labels import label_of
from babelquake.runs.measures import CANNOT_BE_TESTED, Row, distinct, values


@dataclass(frozen=True)
class Table:
    """A finished table; every cell is text."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    spare: tuple[str, ...] = ()
    """Columns that a narrow terminal may leave out, the first first."""
    better: tuple[tuple[str, str], ...] = ()
    """Columns whose best cell stands out in a paper, and which way is better: up or down."""

    def without(self, column: str) -> "Table":
        """The table without a column."""
        place = self.columns.index(column)
        rows = tuple((*row[:place], *row[place + 1 :]) for row in self.rows)
        return replace(self, columns=(*self.columns[:place], *self.columns[place + 1 :]), rows=rows)


Shown = Callable[[Any], str]
"""What a line shows of its row."""


def table_of(
    title: str, rows: Iterable[Any], columns: Mapping[str, Shown], note: str = "", spare: tuple[str, ...] = ()
) -> list[Table]:
    """One line per row, every column beside what it shows; no table where there are no rows."""
    lines = tuple(tuple(shown(row) for shown in columns.values()) for row in rows)
    return [Table(title, tuple(columns), lines, note, spare)] if lines else []


def crossed(
    title: str,
    rows: Iterable[Any],
    by: Sequence[str],
    down: Mapping[str, Shown],
    across: str,
    shown: Shown,
    named: Callable[[Any], str] = str,
    heads: Sequence[Any] | None = None,
    note: str = "",
    spare: tuple[str, ...] = (),
) -> list[Table]:
    """One line for all rows that share the columns `by`, one column for each value of the column `across`.

    A line begins with what `down` shows of its first row; `heads` are the values across in another order than that of
    appearance, `named` what each is called. No table where there are no rows.
    """
    groups: dict[tuple[Any, ...], dict[Any, Any]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in by), {})[row[across]] = row
    over = list(dict.fromkeys(head for cells in groups.values() for head in cells)) if heads is None else heads
    lines = tuple(
        (
            *(begins(next(iter(cells.values()))) for begins in down.values()),
            *(shown(cells[head]) if head in cells else "" for head in over),
        )
        for cells in groups.values()
    )
    return [Table(title, (*down, *map(named, over)), lines, note, spare)] if lines else []


def text(name: str) -> Shown:
    """A value as it is; nothing where there is none."""
    return lambda row: "" if row[name] is None else str(row[name])


def digits(name: str, places: int = 1, sign: bool = False) -> Shown:
    """A number with so many places."""
    return lambda row: number(row[name], places, sign)


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


def value_of(row: dict[str, Any] | None, places: int = 1) -> str:
    """The value of a measure; nothing where it was not taken."""
    return "" if row is None else number(row["value"], places)


def interval(row: dict[str, Any], digits: int = 2) -> str:
    """The 95 % interval of a difference: `[−1.20, +0.31]`."""
    if row["low"] is None or row["high"] is None:
        return ""
    return f"[{number(row['low'], digits, sign=True)}, {number(row['high'], digits, sign=True)}]"


def plain_interval(row: dict[str, Any] | None, places: int = 1) -> str:
    """The 95 % interval of a value: `[1.2, 3.4]`."""
    if row is None or row["low"] is None or row["high"] is None:
        return ""
    return f"[{number(row['low'], places)}, {number(row['high'], places)}]"


def with_interval(row: dict[str, Any] | None, places: int = 1) -> str:
    """`0.412 [0.361, 0.460]`"""
    return f"{value_of(row, places)} {plain_interval(row, places)}".strip()


def leading_number(cell: str) -> float | None:
    """The number that a cell begins with; None where it does not."""
    found = regex.match(r"[+−-]?\d[\d,]*(?:\.\d+)?", cell)
    return float(found[0].replace("−", "-").replace(",", "")) if found else None


def is_numeric(column: tuple[str, ...]) -> bool:
    """Whether all cells that hold anything begin like numbers; such columns are set flush right."""
    bare = [cell.lstrip("[+−-") for cell in column if cell]
    return bool(bare) and all(cell[:1].isdigit() for cell in bare)


def of(pair: str | None) -> str:
    """A language pair behind a title."""
    return f" · {pair}" if pair else ""


def stars(p: float | None) -> str:
    """Significance after correction: * below 5 %, ** below 1 %, *** below 0.1 %."""
    if p is None:
        return ""
    return "***" if p < 0.001 else "**" if p < 0.01 else "*" if p < 0.05 else ""


def cell(row: dict[str, Any] | None, digits: int = 2) -> str:
    """A tested number: `−1.2**`; a dagger where nothing could be tested."""
    if row is None or row["value"] is None:
        return "–" if row is not None and row.get("note") else ""
    mark = UNTESTABLE if row.get("verdict") == CANNOT_BE_TESTED else stars(row["p_corrected"])
    return number(row["value"], digits, sign=True) + mark


UNTESTABLE = "†"
STARS_NOTE = "* p < .05, ** p < .01, *** p < .001"


def note_on(rows: Sequence[dict[str, Any]]) -> str:
    """What the stars and signs of these rows mean: said only of what was done."""
    parts = []
    families = {row["family"] for row in rows if row.get("family")}
    if any(row.get("p_corrected") is not None for row in rows):
        over = f", step-down max-T within {len(families)} famil{'y' if len(families) == 1 else 'ies'} of tests"
        parts.append(f"{STARS_NOTE}{over if families else ', corrected for several tests'}.")
    elif any(row.get("p") is not None for row in rows):
        parts.append(f"{STARS_NOTE}, uncorrected.")
    if any(row.get("verdict") == CANNOT_BE_TESTED for row in rows):
        parts.append(f"{UNTESTABLE} cannot be tested: too few segments.")
    notes = list(dict.fromkeys(row["note"] for row in rows if row.get("note") and row["value"] is None))
    if notes:
        parts.append(f"– undefined: {'; '.join(notes)}")
    return " ".join(parts)


MOST = 6
"""Systems or scorers that have a column each; of more, the weakest and the strongest are named."""


def parts_table(title: str, rows: Sequence[Row], who: str, said: str, places: int = 1) -> list[Table]:
    """One line per perturbation and part; nothing where no part was measured. `who` is the column of what is tested."""
    rows = [row for row in rows if row["group"] is not None and row["value"] is not None]
    if not rows:
        return []
    names, lines = values(rows, who), []
    for place in distinct(rows, "perturbation", "level", "group"):
        perturbation, level, group = place
        here = [row for row in rows if (row["perturbation"], row["level"], row["group"]) == place]
        begin = (label_of(perturbation, level) if perturbation else "", group, str(max(row["n"] for row in here)))
        if len(names) <= MOST:
            by_name = {row[who]: row for row in here}
            lines.append((*begin, *(cell(by_name.get(name), places) for name in names)))
        else:
            weakest, strongest = (pick(here, key=lambda row: float(row["value"])) for pick in (min, max))
            mean = f"{sum(row['value'] for row in here) / len(here):.{places}f}"
            ends = (weakest[who], cell(weakest, places), strongest[who], cell(strongest, places))
            lines.append((*begin, mean, *ends))
    many = (f"mean {said}", "weakest", said, "strongest", f"{said} ")
    columns = ("perturbation", "part", "n", *(names if len(names) <= MOST else many))
    note = f"{said} on every part of the data, tested apart from the whole. {note_on(rows)}"
    return [Table(title, columns, tuple(lines), note.strip())]
