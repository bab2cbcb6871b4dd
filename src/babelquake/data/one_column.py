"""One column of a table, to be changed and put back: everything else stays as it was, in the same format."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import polars as pl

from babelquake.data.columns import resolve
from babelquake.data.delimited import csv_table, tsv_table
from babelquake.data.json_and_parquet import json_lines
from babelquake.data.parquet import parquet_frame
from babelquake.data.request import Request
from babelquake.data.streams import STDIN, suffix
from babelquake.data.table import Table, Values, columns_of, texts_of
from babelquake.data.writing import as_bytes
from babelquake.errors import UserError, did_you_mean, setting

Texts = Sequence[str | None]
ENDINGS = (".tsv", ".tab", ".csv", ".jsonl", ".ndjson", ".parquet")


@dataclass(frozen=True)
class Column:
    """The texts of a column, the sources beside them where the table has such, and the table with other texts."""

    texts: list[str | None]
    sources: list[str | None] | None
    written: Callable[[Texts], bytes]
    notes: list[str] = field(default_factory=list)

    def replaced(self, texts: Sequence[str]) -> bytes:
        """The whole table, as a file of the same format, with these texts; where there was none there is none."""
        return self.written([text if old is not None else None for old, text in zip(self.texts, texts, strict=True)])


def read_column(path: str, name: str) -> Column:
    """A column by its own name, or by a usual one (`source` finds `src`); by its number where there is no header."""
    ending = suffix(path)
    if path == STDIN or ending not in ENDINGS:
        raise UserError(f"{setting('column', name)} needs a table: a file that ends in {', '.join(ENDINGS)}.")
    request = Request(path, {"source": name} if name.isdigit() else None)
    if ending in (".tsv", ".tab", ".csv"):
        table = tsv_table(request, None if name.isdigit() else True) if ending != ".csv" else csv_table(request, True)
        return _delimited(table, name, ending)
    notes: list[str] = []
    if ending == ".parquet":
        frame = parquet_frame(request)
        table = Table(path, path, columns_of(frame), range(1, frame.height + 1), unit="row")
        found, texts, sources = _chosen(table, name)
        return Column(
            texts, sources, lambda new: as_bytes(frame.with_columns(pl.Series(found, new, pl.String)), ending), notes
        )
    objects = [item for _, item in json_lines(request.path, notes)]
    if wrong := next((place for place, item in enumerate(objects, 1) if not isinstance(item, dict)), None):
        raise UserError(f"{path}: line {wrong} is not an object. Expected one JSON object a line.")
    names = dict.fromkeys(key for item in objects for key in item)
    columns: dict[str, Values] = {each: [item.get(each) for item in objects] for each in names}
    found, texts, sources = _chosen(Table(path, path, columns, range(1, len(objects) + 1)), name)

    def lines(new: Texts) -> bytes:
        changed = (item | {found: text} if found in item else item for item, text in zip(objects, new, strict=True))
        return "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in changed).encode()

    return Column(texts, sources, lines, notes)


def _delimited(table: Table, name: str, ending: str) -> Column:
    found, texts, sources = _chosen(table, name)
    headed = table.lines[0] > 1

    def cells(new: Texts) -> bytes:
        frame = pl.DataFrame({key: list(values) for key, values in table.columns.items()})
        written = as_bytes(frame.with_columns(pl.Series(found, new, pl.String)), ".csv" if ending == ".csv" else ".tsv")
        return written if headed else written.partition(b"\n")[2]

    return Column(texts, sources, cells, table.notes)


def _chosen(table: Table, name: str) -> tuple[str, list[str | None], list[str | None] | None]:
    """The column's own name, its texts, and those of the source column where that is another one."""
    usual = resolve(list(table.columns), None, table.label)
    found = name if name in table.columns else (usual.get(name) or [""])[0]
    if found not in table.columns:
        raise UserError(f"{table.label} has no column '{name}'. {did_you_mean(name, table.columns)}")
    origin = (usual.get("source") or [found])[0]
    return found, texts_of(table, found), None if origin == found else texts_of(table, origin)
