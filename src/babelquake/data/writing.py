"""Writing tables: TSV, CSV, JSON lines or Parquet, by the file's ending."""

import bz2
import gzip
import io
import json
import lzma
from collections.abc import Callable, Iterable
from pathlib import Path

import polars as pl

from babelquake.data.dataset import SCHEMA, Dataset
from babelquake.data.streams import suffix
from babelquake.errors import UserError
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
        data = _writers()[suffix(target)](frame)
        target.parent.mkdir(parents=True, exist_ok=True)
        store_bytes(PACKERS[target.suffix](data) if target.suffix in PACKERS else data, target)
    except OSError as error:
        raise UserError(f"{target} cannot be written: {error.strerror}.") from None
    except _UnwritableError as error:
        raise UserError(f"{target} cannot contain {error}. Write .csv, .jsonl or .parquet instead.") from None


def as_bytes(frame: pl.DataFrame, ending: str) -> bytes:
    """A table as a file with that ending would hold it."""
    try:
        return _writers()[ending](frame)
    except _UnwritableError as error:
        raise UserError(f"{ending[1:].upper()} cannot contain {error}. Use .csv, .jsonl or .parquet instead.") from None


def require_writable(path: Path) -> None:
    """Refuse a name that does not say how to write the table."""
    if suffix(path) not in _writers():
        raise UserError(f"{path}: cannot tell the format to write. End its name in {', '.join(_writers())}.")


def _writers() -> dict[str, Callable[[pl.DataFrame], bytes]]:
    return {".tsv": _tsv, ".csv": _csv, ".jsonl": _jsonl, ".ndjson": _jsonl, ".parquet": _parquet}


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
