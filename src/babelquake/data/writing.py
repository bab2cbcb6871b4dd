"""Writing tables: TSV, CSV, JSON lines or Parquet, by the file's ending; or one column, changed and put back."""

import bz2
import gzip
import io
import json
import lzma
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from babelquake.data.columns import resolve
from babelquake.data.dataset import SCHEMA, Dataset, Request
from babelquake.data.json_and_parquet import json_lines, parquet_frame
from babelquake.data.streams import STDIN, suffix
from babelquake.data.table import Table, Values, columns_of, text_series
from babelquake.data.tsv_csv_xlsx import csv_table, tsv_table
from babelquake.errors import UserError, did_you_mean, setting
from babelquake.files import store_bytes

PACKERS: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}
DOUBLE = '"'
NEEDS_QUOTES = frozenset(',"\n\r')
UNWRITABLE = {"\t": "a tab", "\n": "a line end", "\r": "a carriage return", "\0": "a NUL"}


def write(what: pl.DataFrame | Dataset, path: str | Path) -> None:
    """Write a table; `.tsv`, `.csv`, `.jsonl` (each also `.gz`, `.xz`, `.bz2`) or `.parquet` says how.

    In TSV and CSV references become columns reference, reference2 and so on, other lists become JSON, and nothing and
    blank look alike; JSON lines and Parquet keep everything. TSV has no quoting, so a text with a tab or a line end is
    an error there.
    """
    target = Path(path)
    frame = _present(what.segments) if isinstance(what, Dataset) else what
    require_writable(target)
    try:
        data = WRITERS[suffix(target)](frame)
        target.parent.mkdir(parents=True, exist_ok=True)
        store_bytes(PACKERS[target.suffix](data) if target.suffix in PACKERS else data, target)
    except OSError as error:
        raise UserError(f"{target} cannot be written: {error.strerror}.") from None
    except _UnwritableError as error:
        raise UserError(f"{target} cannot contain {error}. Write .csv, .jsonl or .parquet instead.") from None


def as_bytes(frame: pl.DataFrame, ending: str) -> bytes:
    """A table as a file with that ending would hold it."""
    try:
        return WRITERS[ending](frame)
    except _UnwritableError as error:
        raise UserError(f"{ending[1:].upper()} cannot contain {error}. Use .csv, .jsonl or .parquet instead.") from None


def require_writable(path: Path) -> None:
    """Refuse a name that does not say how to write the table."""
    if suffix(path) not in WRITERS:
        raise UserError(f"{path}: cannot tell the format to write. End its name in {', '.join(WRITERS)}.")


class _UnwritableError(Exception):
    """A cell this format cannot hold."""


def _present(segments: pl.DataFrame) -> pl.DataFrame:
    """The columns that say something."""
    return segments.select(
        name for name in segments.columns if name not in SCHEMA or segments[name].null_count() < segments.height
    )


def _flat(frame: pl.DataFrame) -> tuple[list[str], Iterable[tuple[str, ...]]]:
    """Header and rows of text cells."""
    if "references" in frame.columns and frame.schema["references"] == pl.List(pl.String):
        longest = int(frame["references"].list.len().max() or 1)  # type: ignore[arg-type]
        names = ["reference", *(f"reference{number}" for number in range(2, longest + 1))]
        split = [pl.col("references").list.get(place, null_on_oob=True).alias(name) for place, name in enumerate(names)]
        position = frame.columns.index("references")
        order = [*frame.columns[:position], *names, *frame.columns[position + 1 :]]
        frame = frame.with_columns(split).select(order)
    return frame.columns, (tuple(map(_cell, row)) for row in frame.iter_rows())


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return repr(value) if isinstance(value, float) else str(value)


def _tsv(frame: pl.DataFrame) -> bytes:
    header, rows = _flat(frame)
    lines = ["\t".join(header)]
    for number, row in enumerate(rows, start=1):
        line = "\t".join(row)
        if line.count("\t") != len(header) - 1 or any(mark in line for mark in "\n\r\0"):
            raise _UnwritableError(_culprit(header, row, number))
        lines.append(line)
    return ("\n".join(lines) + "\n").encode()


def _culprit(header: Iterable[str], row: Iterable[str], number: int) -> str:
    found = (
        (name, what)
        for name, cell in zip(header, row, strict=True)
        for mark, what in UNWRITABLE.items()
        if mark in cell
    )
    name, what = next(found)
    return f"{what} (row {number}, column {name})"


def _csv(frame: pl.DataFrame) -> bytes:
    header, rows = _flat(frame)
    out = [",".join(map(_quoted, header))]
    for number, row in enumerate(rows, start=1):
        if any("\0" in cell for cell in row):
            raise _UnwritableError(f"a NUL (row {number})")
        out.append(",".join(map(_quoted, row)) or '""')
    return ("\n".join(out) + "\n").encode()


def _quoted(cell: str) -> str:
    """A cell as RFC 4180 wants it; Python's own writer leaves a lone carriage return bare."""
    return f'"{cell.replace(DOUBLE, DOUBLE + DOUBLE)}"' if NEEDS_QUOTES & set(cell) else cell


def _jsonl(frame: pl.DataFrame) -> bytes:
    return "".join(
        json.dumps(row, ensure_ascii=False, allow_nan=True) + "\n" for row in frame.iter_rows(named=True)
    ).encode()


def _parquet(frame: pl.DataFrame) -> bytes:
    out = io.BytesIO()
    frame.write_parquet(out)
    return out.getvalue()


WRITERS: dict[str, Callable[[pl.DataFrame], bytes]] = {
    ".tsv": _tsv,
    ".csv": _csv,
    ".jsonl": _jsonl,
    ".ndjson": _jsonl,
    ".parquet": _parquet,
}


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
    return found, text_series(table, found).to_list(), None if origin == found else text_series(table, origin).to_list()
