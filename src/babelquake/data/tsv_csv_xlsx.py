"""Tables in rows: TSV, CSV, and the first sheet of a workbook.

TSV here is what this field writes: cells between tabs, one row a line, no quoting, so a stray `"` is text. CSV follows
RFC 4180: quoted cells may hold commas, quotes and line ends. The first row of a workbook's sheet names the columns.
"""

import csv
import io
import re
import warnings
import zipfile
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from babelquake.data.columns import by_position, is_header
from babelquake.data.dataset import Dataset, Request
from babelquake.data.markup import is_markup
from babelquake.data.streams import existing, label, lines, stem, whole_text
from babelquake.data.table import Table, dataset_of
from babelquake.errors import UserError, setting
from babelquake.limits import most, reading, require

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
    return dataset_of(request, tsv_table(request))


def read_csv(request: Request) -> Dataset:
    """Comma-separated columns with header names, or source and reference."""
    return dataset_of(request, csv_table(request))


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


SheetRow = tuple[int, list[str | float | None]]
LAST_ROW, LAST_COLUMN = 2**20, 2**14
"""Of any workbook that Excel writes. A cell that says it is further out has that many empty ones before it."""


def read_xlsx(request: Request) -> Dataset:
    """The first sheet of a workbook."""
    name = label(request.path)
    with reading(name, "a workbook"):
        rows = _first_sheet(existing(request.path))
    if len(rows) < 2:
        raise UserError(f"{name} is empty. Expected a row with column names, then one segment a row.")
    (_, header), *body = rows
    names = [str(value or "").strip() or f"column {place}" for place, value in enumerate(header, 1)]
    columns: dict[str, Any] = {
        name: [row[place] if place < len(row) else None for _, row in body] for place, name in enumerate(names)
    }
    table = Table(name, stem(request.path), columns, [number for number, _ in body], unit="row")
    chosen = {field: _by_letter(value, names) for field, value in (request.columns or {}).items()}
    return dataset_of(replace(request, columns=chosen), table)


def _by_letter(given: str, names: list[str]) -> str:
    """A column by its name, or by the letter that stands above it in the spreadsheet."""
    from openpyxl.utils import column_index_from_string, get_column_letter

    if given in names or not re.fullmatch(r"[A-Z]{1,2}", given):
        return given
    place = int(column_index_from_string(given))
    if place > len(names):
        last = f"{get_column_letter(len(names))} ({names[-1]})"
        raise UserError(f"There is no column {given}: the sheet ends with column {last}.")
    return names[place - 1]


def _first_sheet(path: Path) -> list[SheetRow]:
    """The rows that are not empty, each with its number, without the empty cells at its end."""
    from openpyxl import load_workbook

    with zipfile.ZipFile(path) as parts:
        require("workbook", sum(part.file_size for part in parts.infolist()), str(path))
    rows: list[SheetRow] = []
    cells = 0
    with warnings.catch_warnings(action="ignore"):
        book = load_workbook(path, read_only=True, data_only=True)
        try:
            if not book.worksheets:
                raise ValueError("it has no sheet")
            sheet = book.worksheets[0]
            sheet.reset_dimensions()  # what a file says of its size need not be true
            for number, values in enumerate(sheet.iter_rows(values_only=True), 1):
                if number > LAST_ROW or len(values) > LAST_COLUMN:
                    raise ValueError(f"a cell is beyond row {LAST_ROW:,} or column {LAST_COLUMN:,}")
                if not values:
                    continue
                row = [_cell(value) for value in values]
                while row and row[-1] in (None, ""):
                    row.pop()
                cells += len(row)
                require("cells", cells, f"{path}, first sheet")
                longest = max((len(value) for value in row if isinstance(value, str)), default=0)
                require("cell", longest, f"{path}, a cell of row {number}")
                if row:
                    rows.append((number, row))
        finally:
            book.close()
    return rows


def _cell(value: object) -> str | float | None:
    """Text as text, numbers as numbers, dates as they are written in ISO 8601."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return None if value is None else str(value)
