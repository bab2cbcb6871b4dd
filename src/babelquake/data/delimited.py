"""TSV and CSV.

TSV here is what this field writes: cells between tabs, one row a line, no quoting, so a stray `"` is text. CSV follows
RFC 4180: quoted cells may hold commas, quotes and line ends.
"""

import csv
import io
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from babelquake.data import language_names
from babelquake.data.columns import by_position, is_header
from babelquake.data.dataset import Dataset
from babelquake.data.markup import is_markup
from babelquake.data.request import Request
from babelquake.data.streams import label, lines, stem, whole_text
from babelquake.data.table import Table, to_dataset
from babelquake.errors import UserError, setting
from babelquake.limits import most

if TYPE_CHECKING:
    import _csv

Row = tuple[int, list[str]]
"""The line on which a row begins, and its cells."""
HEADERLESS = ("source", "reference")
ROWS_AT_ONCE = 16_384
"""Rows that lie in memory as Python objects while a table is read."""
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}
NAMED = 12
"""Columns that a message names."""


def read_tsv(request: Request) -> Dataset:
    """Tab-separated columns, with header names or as source and reference."""
    return to_dataset(tsv_table(request), request.columns, request.language_pair, language_names.detect(request.path))


def read_csv(request: Request) -> Dataset:
    """Comma-separated columns with header names, or source and reference."""
    return to_dataset(csv_table(request), request.columns, request.language_pair, language_names.detect(request.path))


def csv_table(request: Request, header: bool | None = None) -> Table:
    """The columns of a CSV file; whether the first line names them is found out unless said."""
    notes: list[str] = []
    text = whole_text(request.path, notes)
    csv.field_size_limit(most("cell"))
    delimiter = _delimiter(text, notes, stem(request.path))
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter)
    return _table(request, _csv_rows(reader, label(request.path)), notes, header)


def _csv_rows(reader: "_csv.Reader", name: str) -> Iterator[Row]:
    """The rows of a CSV file, each with the line on which it begins."""
    line = 1
    try:
        for row in reader:
            yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise UserError(
            f"{name} line {line}: {error}. Expected CSV, with quotes inside a quoted cell doubled."
        ) from None


def _delimiter(text: str, notes: list[str], name: str) -> str:
    """What parts the columns of the first line: a comma, or the semicolon or tab that spreadsheets write instead."""
    first = text.partition("\n")[0].partition("\r")[0]
    counts = {mark: len(next(csv.reader([first], delimiter=mark), [])) for mark in DELIMITERS}
    best = max(counts, key=lambda mark: counts[mark])
    if counts[best] <= counts[","]:
        return ","
    notes.append(f"{name}: columns are separated by {DELIMITERS[best]}, not by commas")
    return best


def tsv_table(request: Request, header: bool | None = None) -> Table:
    """The columns of a TSV file; whether the first line names them is found out unless said."""
    notes: list[str] = []
    rows = ((number, line.split("\t")) for number, line in enumerate(lines(request.path, notes), start=1))
    return _table(request, rows, notes, header, quotable=True)


def _quoted(row: Sequence[str]) -> bool:
    """Whether every cell of a row stands in quotes."""
    return all(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in row)


def split_table(path: Path, expected: Sequence[str]) -> Table:
    """A TSV file that must have certain columns."""
    table = tsv_table(Request(str(path)), header=True)
    missing = [name for name in expected if name not in table.columns]
    if missing:
        raise UserError(f"{path} has no column '{missing[0]}' (it has: {', '.join(table.columns)}).")
    return table


class Cells:
    """The cells of a table that is read row by row, kept by column in little space."""

    def __init__(self, width: int) -> None:
        self.columns = [pl.Series(dtype=pl.String) for _ in range(width)]
        self.lines = array("q")
        """Where each row begins."""
        self._rows: list[list[str]] = []

    def add(self, line: int, row: list[str]) -> None:
        """One more row."""
        self.lines.append(line)
        self._rows.append(row)
        if len(self._rows) == ROWS_AT_ONCE:
            self._pack()

    def named(self, header: Sequence[str], first: int) -> dict[str, pl.Series]:
        """The columns by name, from row `first` on."""
        self._pack()
        return {name: column.slice(first) for name, column in zip(header, self.columns, strict=True)}

    def unquote(self) -> None:
        """Take off the quotes around every cell."""
        self._pack()
        inner = [column.str.slice(1).str.head(-1) for column in self.columns]
        self.columns = [column.str.replace_all('""', '"', literal=True) for column in inner]

    def _pack(self) -> None:
        for column, cells in zip(self.columns, zip(*self._rows, strict=True), strict=bool(self._rows)):
            column.append(pl.Series(cells, dtype=pl.String))
        self._rows = []


def _table(
    request: Request, rows: Iterable[Row], notes: list[str], named: bool | None = None, quotable: bool = False
) -> Table:
    """Rows as columns. Empty lines may end a table; every other row has as many cells as the first.

    Where `quotable`, quotes around every cell of the file are taken off: one cell without them makes them text.
    """
    name, numbered = label(request.path), iter(rows)
    line, head = next(numbered, (1, []))
    width, quoted = len(head), quotable and _quoted(head)
    cells = Cells(width)
    cells.add(line, head)
    blank: list[Row] = []
    wrong: Row | None = None
    for line, row in numbered:
        if width > 1 and row in ([""], []):
            blank.append((line, row))
            continue
        if blank or len(row) != width:
            wrong = (blank or [(line, row)])[0]
            break
        quoted = quoted and (row == [""] or _quoted(row))
        cells.add(line, row)
    if wrong is None and len(cells.lines) == 1 and not any(head):
        raise UserError(f"{name} is empty. Expected a line with column names, then one segment a line.")
    if quoted:
        cells.unquote()
        notes.append(f"{stem(request.path)}: every cell is quoted; the quotes were removed")
    if blank and wrong is None:
        lines = "1 empty line at the end was" if len(blank) == 1 else f"{len(blank)} empty lines at the end were"
        notes.append(f"{stem(request.path)}: {lines} left out")
    header, first = _header(request, [cell[1:-1].replace('""', '"') for cell in head] if quoted else head, notes, named)
    if wrong is not None:
        line, row = wrong
        columns = "column" if len(row) == 1 else "columns"
        what = "the header has" if first else "the first line has"
        raise UserError(f"{name} line {line}: {len(row)} {columns} where {what} {width} ({', '.join(header)}).")
    if len(cells.lines) == first:
        raise UserError(f"{name} has column names ({', '.join(header)}) but no rows.")
    return Table(name, stem(request.path), dict(cells.named(header, first)), cells.lines[first:], notes=notes)


def _header(request: Request, first: Sequence[str], notes: list[str], named: bool | None) -> tuple[list[str], int]:
    """The column names, and how many lines they take: none where the file has no header."""
    name = label(request.path)
    if by_position(request.columns) and not set((request.columns or {}).values()) <= set(first):
        return [str(position) for position in range(1, len(first) + 1)], 0
    if named or request.columns or is_header(first):
        repeated = sorted({cell for cell in first if list(first).count(cell) > 1})
        if repeated:
            raise UserError(f"{name} line 1: column '{repeated[0]}' occurs twice. Expected different names.")
        return list(first), 1
    if not first:
        raise UserError(f"{name} line 1 is empty. Expected a line with column names, then one segment a line.")
    if is_markup(first[0].encode()):
        raise UserError(f"{name} contains mark-up, not columns. Known kinds end in .tmx, .xlf, .sgm or .xml (WMT).")
    if len(first) > len(HEADERLESS):
        raise UserError(
            f"{name} line 1 has no known column name (it has: {_some(first)}). Expected names such as source, "
            "reference, translation, system and score. For other names use, for example, "
            f"{setting('columns', {'source': '1', 'reference': '2'})}."
        )
    names = list(HEADERLESS[: len(first)])
    notes.append(
        f"{stem(request.path)}: line 1 has no known column name, so the file is read without a header as "
        f"{' and '.join(names)}"
    )
    return names, 0


def _some(cells: Iterable[str]) -> str:
    """The first names, shortened, and how many more there are."""
    names = [cell if len(cell) <= 30 else cell[:29] + "…" for cell in cells]
    return ", ".join([*names[:NAMED], *([f"and {len(names) - NAMED} more"] if len(names) > NAMED else [])])
