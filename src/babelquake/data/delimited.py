"""TSV and CSV.

TSV here is what this field writes: cells between tabs, one row a line, no quoting, so a stray `"` is text. CSV follows
RFC 4180: quoted cells may hold commas, quotes and line ends.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from babelquake.data import languages
from babelquake.data.columns import by_position, is_header
from babelquake.data.dataset import Dataset
from babelquake.data.markup import is_markup
from babelquake.data.request import Request
from babelquake.data.streams import label, lines, stem, whole_text
from babelquake.data.table import Table, to_dataset
from babelquake.errors import UserError

HEADERLESS = ("source", "reference")
LONGEST_CELL = 2**24
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}


def read_tsv(request: Request) -> Dataset:
    """Tab-separated columns, with header names or as source and reference."""
    return to_dataset(tsv_table(request), request.columns, request.language_pair, languages.detect(request.path))


def read_csv(request: Request) -> Dataset:
    """Comma-separated columns with header names, or source and reference."""
    return to_dataset(csv_table(request), request.columns, request.language_pair, languages.detect(request.path))


def csv_table(request: Request, header: bool | None = None) -> Table:
    """The columns of a CSV file; whether the first line names them is found out unless said."""
    notes: list[str] = []
    text = whole_text(request.path, notes)
    csv.field_size_limit(LONGEST_CELL)
    delimiter = _delimiter(text, notes, stem(request.path))
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter)
    rows, starts, line = [], [], 1
    try:
        for row in reader:
            rows.append(row)
            starts.append(line)
            line = reader.line_num + 1
    except csv.Error as error:
        raise UserError(
            f"{label(request.path)} line {line}: {error}. Expected CSV, with quotes inside a quoted cell doubled."
        ) from None
    return _table(request, rows, starts, notes, header)


def _delimiter(text: str, notes: list[str], name: str) -> str:
    """What parts the columns of the first line: a comma, or the semicolon or tab that spreadsheets write instead."""
    first = text.partition("\n")[0].partition("\r")[0]
    counts = {mark: len(next(csv.reader([first], delimiter=mark), [])) for mark in DELIMITERS}
    best = max(counts, key=lambda mark: counts[mark])
    if counts[best] <= counts[","]:
        return ","
    notes.append(f"{name}: columns are parted by {DELIMITERS[best]}, not by commas")
    return best


def tsv_table(request: Request, header: bool | None = None) -> Table:
    """The columns of a TSV file; whether the first line names them is found out unless said."""
    notes: list[str] = []
    rows = [line.split("\t") for line in lines(request.path, notes)]
    if rows and _quoted(rows):
        rows = [[_unquoted(cell) for cell in row] for row in rows]
        notes.append(f"{stem(request.path)}: every cell is quoted; the quotes were taken off")
    return _table(request, rows, range(1, len(rows) + 1), notes, header)


def _quoted(rows: Sequence[Sequence[str]]) -> bool:
    """Whether every cell of the file stands in quotes: one that does not makes them text."""
    return all(len(cell) > 1 and cell[0] == cell[-1] == '"' for row in rows for cell in row if row != [""])


def _unquoted(cell: str) -> str:
    return cell[1:-1].replace('""', '"')


def split_table(path: Path, expected: Sequence[str]) -> Table:
    """A TSV file that must have certain columns."""
    table = tsv_table(Request(str(path)), header=True)
    missing = [name for name in expected if name not in table.columns]
    if missing:
        raise UserError(f"{path} has no column '{missing[0]}' (it has: {', '.join(table.columns)}).")
    return table


def _table(
    request: Request, rows: list[list[str]], starts: Sequence[int], notes: list[str], named: bool | None = None
) -> Table:
    name = label(request.path)
    if not rows or (len(rows) == 1 and not any(rows[0])):
        raise UserError(f"{name} is empty. Expected a line with column names, then one segment a line.")
    width = len(rows[0])
    if width > 1:
        blank = 0
        while rows[-1] in ([""], []):
            rows.pop()
            blank += 1
        if blank:
            notes.append(f"{stem(request.path)}: {blank} empty lines at the end were left out")
    header, first = _header(request, rows[0], notes, named)
    for row, line in zip(rows, starts, strict=False):
        if len(row) != width:
            columns = "column" if len(row) == 1 else "columns"
            what = "the header has" if first else "the first line has"
            raise UserError(f"{name} line {line}: {len(row)} {columns} where {what} {width} ({', '.join(header)}).")
    if len(rows) == first:
        raise UserError(f"{name} has column names ({', '.join(header)}) but no rows.")
    cells: dict[str, Sequence[str]] = dict(zip(header, zip(*rows[first:], strict=True), strict=True))
    return Table(name, stem(request.path), dict(cells), starts[first : len(rows)], notes=notes)


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
    if is_markup(first[0].encode()):
        raise UserError(f"{name} holds mark-up, not columns. Known kinds end in .tmx, .xlf, .sgm or .xml (WMT).")
    if len(first) > len(HEADERLESS):
        raise UserError(
            f"{name} line 1 names no known column (it has: {_some(first)}). Expected names such as source, reference, "
            "translation, system and score; or say which column is which, for example: --columns source=1,reference=2."
        )
    names = list(HEADERLESS[: len(first)])
    notes.append(
        f"{stem(request.path)}: line 1 names no known column, so the file is read without header as "
        f"{' and '.join(names)}"
    )
    return names, 0


def _some(cells: Iterable[str]) -> str:
    return ", ".join(cell if len(cell) <= 30 else cell[:29] + "…" for cell in list(cells)[:12])
