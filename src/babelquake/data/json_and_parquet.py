"""JSON lines, JSON lists and Parquet tables, among them the translations of a finished run.

A few kilobytes of Parquet can hold gigabytes: pages are compressed, and a column of one repeated text is a dictionary
of one entry. What the footer says – rows, columns, unpacked bytes – is compared with the limits first; what repeated
texts come to is counted once the table is read and before a text of it is copied.

Of a run every system's translations are read, and each sample of a system asked several times, so that `metric
--best-of` can pick among the samples of `mt --repeats`, and any study can judge what was translated before.
Translations of perturbed sources are left out: they are of other texts.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from babelquake.data.dataset import Dataset, Request
from babelquake.data.streams import existing, label, lines, stem, whole_bytes, whole_text
from babelquake.data.table import Table, Values, columns_of, dataset_of, to_dataset
from babelquake.errors import UserError
from babelquake.languages import LanguagePair, language_named
from babelquake.limits import json_of, reading, require


def read_jsonl(request: Request) -> Dataset:
    """One object a line; a field an object lacks is null."""
    notes: list[str] = []
    found = json_lines(request.path, notes)
    table = objects_table(request.path, [item for _, item in found], [number for number, _ in found], "line", notes)
    return dataset_of(request, table)


def read_json(request: Request) -> Dataset:
    """A list of objects."""
    objects = json_list(request.path)
    return dataset_of(request, objects_table(request.path, objects, range(1, len(objects) + 1), "item", []))


def read_parquet(request: Request) -> Dataset:
    """A Parquet table; nested columns other than references stay as they are."""
    frame = parquet_frame(request)
    table = Table(request.what, stem(request.path), columns_of(frame), range(1, frame.height + 1), unit="row")
    return dataset_of(request, table)


def json_lines(path: Path, notes: list[str]) -> list[tuple[int, Any]]:
    """The objects of a file with one a line, with their lines' numbers."""
    objects, blank = [], 0
    for number, line in enumerate(lines(path, notes), start=1):
        if not line.strip():
            blank += 1
            continue
        objects.append((number, json_of(line, f"{label(path)} line {number}")))
    if blank:
        notes.append(f"{stem(path)}: {blank} empty lines were left out")
    return objects


def json_list(path: Path) -> list[Any]:
    """The objects of a file with a list of them."""
    try:
        found = json_of(whole_text(path), label(path))
    except UserError as error:
        raise UserError(f"{error} One object a line would be .jsonl.") from None
    if not isinstance(found, list):
        raise UserError(f"{label(path)} does not contain a list. Expected a JSON list of objects, one per segment.")
    return found


def objects_table(path: Path, objects: Sequence[Any], numbers: Sequence[int], unit: str, notes: list[str]) -> Table:
    """Objects as columns; `numbers` say where each stands."""
    if not objects:
        raise UserError(f"{label(path)} is empty. Expected one JSON object per segment, with names such as source.")
    names: dict[str, None] = {}
    for number, item in zip(numbers, objects, strict=True):
        if not isinstance(item, dict):
            raise UserError(f'{label(path)} {unit} {number}: expected a JSON object, such as {{"source": …}}.')
        names.update(dict.fromkeys(item))
    if "translation" in names and all(_is_pair(item.get("translation")) for item in objects):
        objects = [{**item, **_parted(item["translation"])} for item in objects]
        names = dict.fromkeys(key for item in objects for key in item if key != "translation")
    columns: dict[str, Values] = {name: [item.get(name) for item in objects] for name in names}
    return Table(label(path), stem(path), columns, numbers, unit, notes)


def _is_pair(value: Any) -> bool:
    """Whether a value is the usual bilingual object: `{"de": "…", "en": "…"}`."""
    return isinstance(value, dict) and len(value) == 2 and all(map(language_named, value))


def _parted(texts: dict[str, str]) -> dict[str, str]:
    """Source and reference of a bilingual object, in its own order."""
    (first, source), (second, reference) = texts.items()
    pair = LanguagePair.of(str(language_named(first)), str(language_named(second)))
    return {"source": source, "reference": reference, "language_pair": str(pair)}


MAGIC = b"PAR1"
ROWS, GROUPS = 3, 4
"""Fields of `FileMetaData` (parquet.thrift)."""
CHUNKS, META, VALUES, UNPACKED = 1, 3, 5, 6
"""The columns of a row group; the description of a column chunk; `num_values`, `total_uncompressed_size` in it."""


def parquet_frame(request: Request) -> pl.DataFrame:
    """The table in a Parquet file, which must have rows."""
    frame = bounded_table(existing(request.path), request.what)
    if frame.is_empty():
        raise UserError(f"{request.what} is empty: it has columns ({', '.join(frame.columns)}) but no rows.")
    return frame


def bounded_table(path: Path, what: str) -> pl.DataFrame:
    """The table in a Parquet file, if it is within the limits packed and unpacked; `what` names it in messages."""
    content = whole_bytes(path, "document")
    with reading(what, "a Parquet file"):
        values, unpacked = footer_sizes(content)
        require("values", values, what)
        require("document", unpacked, what)
        frame = pl.read_parquet(content)
        require("document", _bytes_of_texts(frame), what)
    return frame


def footer_sizes(content: bytes) -> tuple[int, int]:
    """How many values (those in lists one by one), and the bytes of all pages unpacked, by the file's own footer."""
    if len(content) < 12 or content[:4] != MAGIC or content[-4:] != MAGIC:
        raise ValueError("it does not begin and end as Parquet files do")
    length = int.from_bytes(content[-8:-4], "little")
    if length > len(content) - 12:
        raise ValueError("its footer is cut off")
    footer = _Compact(content[-8 - length : -8]).struct()
    groups = [list(group.get(CHUNKS, ())) for group in footer.get(GROUPS, ())]
    chunks = [chunk.get(META, {}) for group in groups for chunk in group]
    widest = max((len(group) for group in groups), default=0)
    values = max(int(footer[ROWS]) * widest, sum(int(chunk.get(VALUES, 0)) for chunk in chunks))
    return values, sum(int(chunk.get(UNPACKED, 0)) for chunk in chunks)


def _bytes_of_texts(frame: pl.DataFrame) -> int:
    """What the texts come to one by one; a text that many rows share is in memory once until it is copied."""
    counts = frame.select(pl.col(pl.String).str.len_bytes().cast(pl.Int64).sum())
    return sum(counts.row(0)) if counts.width else 0


class _Compact:
    """Thrift's compact protocol, in which footers are written: structs as dicts by field number."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def struct(self) -> Mapping[int, Any]:
        """A struct up to its end mark."""
        found: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            found[number] = self._value(head & 15)
        return found

    def _value(self, kind: int) -> Any:
        match kind:
            case 1 | 2:
                return kind == 1
            case 3:
                return self._byte()
            case 4 | 5 | 6:
                return self._signed()
            case 7:
                self._at += 8
                return None
            case 8:
                length = self._unsigned()  # moves on by itself
                self._at += length
                return None
            case 9 | 10:
                head = self._byte()
                size = head >> 4 if head >> 4 < 15 else self._unsigned()
                return [self._element(head & 15) for _ in range(size)]
            case 12:
                return self.struct()
        raise ValueError(f"its footer has a field of unknown kind {kind}")

    def _element(self, kind: int) -> Any:
        """Booleans are a byte each in a list, and nothing but the kind in a struct."""
        return self._byte() == 1 if kind in (1, 2) else self._value(kind)

    def _byte(self) -> int:
        if self._at >= len(self._content):
            raise ValueError("its footer is cut off")
        self._at += 1
        return self._content[self._at - 1]

    def _unsigned(self) -> int:
        found = shift = 0
        while (byte := self._byte()) & 128:
            found |= (byte & 127) << shift
            shift += 7
            if shift > 63:
                raise ValueError("its footer has a number without end")
        return found | byte << shift

    def _signed(self) -> int:
        found = self._unsigned()
        return (found >> 1) ^ -(found & 1)


SEGMENTS, TRANSLATIONS = "segments.parquet", "translations.parquet"
REPEAT = "repeat"
"""What the run calls clean texts that a system was asked for again."""


def is_mt_run(what: str) -> bool:
    """Whether a folder is a run with translations."""
    return all((Path(what) / name).is_file() for name in ("run.json", SEGMENTS, TRANSLATIONS))


def read_mt_run(request: Request) -> Dataset:
    """One row per translation of a clean source; the second sample of S is the system `S, sample 2`."""
    folder = Path(request.what)
    segments, translations = (parquet_frame(Request(str(folder / name))) for name in (SEGMENTS, TRANSLATIONS))
    again = pl.col("perturbation") == REPEAT
    clean = translations.filter(pl.col("perturbation").is_null() | again)
    named = pl.when(again).then(pl.format("{}, sample {}", "system", pl.col("replicate") + 2)).otherwise("system")
    kept = clean.select("row", "translation", named.alias("system"))
    frame = kept.join(segments.drop("translation", "system", strict=False), on="row", maintain_order="left").drop("row")
    table = Table(request.what, folder.name, columns_of(frame), range(1, frame.height + 1), unit="row")
    return to_dataset(table, request.columns, request.language_pair)
