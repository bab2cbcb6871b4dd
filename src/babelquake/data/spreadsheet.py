"""Workbooks (.xlsx): the first sheet, whose first row names the columns."""

import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

from babelquake.data import language_names
from babelquake.data.dataset import Dataset
from babelquake.data.request import Request
from babelquake.data.streams import existing, label, stem
from babelquake.data.table import Table, to_dataset
from babelquake.errors import UserError
from babelquake.limits import reading, require

Row = tuple[int, list[str | float | None]]
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
    chosen = {field: _named(value, names) for field, value in (request.columns or {}).items()}
    return to_dataset(table, chosen, request.language_pair, language_names.detect(request.path))


def _named(given: str, names: list[str]) -> str:
    """A column by its name, or by the letter that stands above it in the spreadsheet."""
    from openpyxl.utils import column_index_from_string, get_column_letter

    if given in names or not re.fullmatch(r"[A-Z]{1,2}", given):
        return given
    place = int(column_index_from_string(given))
    if place > len(names):
        last = f"{get_column_letter(len(names))} ({names[-1]})"
        raise UserError(f"There is no column {given}: the sheet ends with column {last}.")
    return names[place - 1]


def _first_sheet(path: Path) -> list[Row]:
    """The rows that are not empty, each with its number, without the empty cells at its end."""
    from openpyxl import load_workbook

    with zipfile.ZipFile(path) as parts:
        require("workbook", sum(part.file_size for part in parts.infolist()), str(path))
    rows: list[Row] = []
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
                row = [_value(value) for value in values]
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


def _value(value: object) -> str | float | None:
    """Text as text, numbers as numbers, dates as they are written in ISO 8601."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return None if value is None else str(value)
