"""Spreadsheets (.xlsx): the first sheet, whose first row names the columns. Read with the standard library alone."""

import re
import xml.etree.ElementTree as ET
import zipfile
from typing import Any

from babelquake.data import language_names
from babelquake.data.dataset import Dataset
from babelquake.data.markup import inside
from babelquake.data.request import Request
from babelquake.data.streams import existing, label, stem
from babelquake.data.table import Table, to_dataset
from babelquake.errors import UserError

MOST = 2**29
"""Bytes that a sheet may take unpacked."""
REFERENCE = re.compile(r"([A-Z]+)(\d+)")


def read_xlsx(request: Request) -> Dataset:
    """The first sheet of a workbook."""
    path = existing(request.path)
    try:
        with zipfile.ZipFile(path) as book:
            shared = _shared(book)
            rows = _rows(book, _first_sheet(book), shared)
    except (zipfile.BadZipFile, KeyError, ET.ParseError, ValueError, NotImplementedError) as error:
        raise UserError(f"{label(request.path)} is no workbook that can be read: {error}.") from None
    filled = [(number, row) for number, row in rows if any(value not in (None, "") for value in row)]
    if len(filled) < 2:
        raise UserError(f"{label(request.path)} is empty. Expected a row with column names, then one segment a row.")
    header = [str(value or "").strip() for value in filled[0][1]]
    names = [name or f"column {place}" for place, name in enumerate(header, 1)]
    body = [row + [None] * (len(names) - len(row)) for _, row in filled[1:]]
    columns: dict[str, Any] = {name: [row[place] for row in body] for place, name in enumerate(names)}
    numbers = [number for number, _ in filled[1:]]
    table = Table(label(request.path), stem(request.path), columns, numbers, unit="row")
    return to_dataset(table, request.columns, request.language_pair, language_names.detect(request.path))


def _xml(book: zipfile.ZipFile, name: str) -> ET.Element:
    if book.getinfo(name).file_size > MOST:
        raise ValueError(f"{name} is larger than {MOST >> 20} MB")
    content = book.read(name)
    if b"<!ENTITY" in content[: 1 << 20]:
        raise ValueError(f"{name} declares entities")
    return ET.fromstring(content)  # noqa: S314 – entities were refused above


def _shared(book: zipfile.ZipFile) -> list[str]:
    if "xl/sharedStrings.xml" not in book.namelist():
        return []
    root = _xml(book, "xl/sharedStrings.xml")
    return ["".join(text.text or "" for text in inside(item, "t")) for item in root.findall("{*}si")]


def _first_sheet(book: zipfile.ZipFile) -> str:
    sheets = sorted(
        (name for name in book.namelist() if re.fullmatch(r"xl/worksheets/sheet\d+\.xml", name)),
        key=lambda name: int(re.sub(r"\D", "", name)),
    )
    if not sheets:
        raise ValueError("it has no sheet")
    return sheets[0]


def _rows(book: zipfile.ZipFile, sheet: str, shared: list[str]) -> list[tuple[int, list[Any]]]:
    found = []
    for place, row in enumerate(inside(_xml(book, sheet), "row"), 1):
        cells: list[Any] = []
        for cell in row.findall("{*}c"):
            at = REFERENCE.fullmatch(cell.get("r") or "")
            column = _column(at.group(1)) if at else len(cells)
            cells += [None] * (column - len(cells))
            cells.append(_value(cell, shared))
        found.append((int(row.get("r") or place), cells))
    return found


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1


def _value(cell: ET.Element, shared: list[str]) -> str | float | None:
    """Text as text, numbers as numbers."""
    kind, value = cell.get("t"), cell.find("{*}v")
    if kind == "inlineStr":
        return "".join(text.text or "" for text in inside(cell, "t"))
    if value is None or value.text is None:
        return None
    if kind == "s":
        return shared[int(value.text)]
    if kind in ("str", "e", "b"):
        return value.text
    return float(value.text)
