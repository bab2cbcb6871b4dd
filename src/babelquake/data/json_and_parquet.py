"""JSON lines, JSON lists, Parquet, and DEMETR, which is a JSON list."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from babelquake.data import language_names
from babelquake.data.dataset import Dataset
from babelquake.data.parquet import parquet_frame
from babelquake.data.request import Request
from babelquake.data.streams import existing, label, lines, stem, whole_text
from babelquake.data.table import Table, Values, columns_of, to_dataset
from babelquake.errors import UserError
from babelquake.languages import LanguagePair
from babelquake.limits import json_of

DEMETR = {
    "src_sent": "source",
    "eng_sent": "reference",
    "mt_sent": "translation",
    "pert_sent": "translation_perturbed",
    "pert_name": "phenomenon",
    "pert_check": "applied",
}
"""DEMETR's fields and ours; `severity`, `pert_desc`, `data_source` and `lang_tag` keep their names."""


def read_jsonl(request: Request) -> Dataset:
    """One object a line; a field an object lacks is null."""
    notes: list[str] = []
    found = json_lines(request.path, notes)
    table = _table(request.path, [item for _, item in found], [number for number, _ in found], "line", notes)
    return _from_table(request, table)


def read_json(request: Request) -> Dataset:
    """A list of objects."""
    objects = _json_list(request.path)
    return _from_table(request, _table(request.path, objects, range(1, len(objects) + 1), "item", []))


def read_parquet(request: Request) -> Dataset:
    """A Parquet table; nested columns other than references stay as they are."""
    frame = parquet_frame(request)
    table = Table(request.what, stem(request.path), columns_of(frame), range(1, frame.height + 1), unit="row")
    return _from_table(request, table)


def is_demetr(what: str) -> bool:
    """Whether a JSON or JSONL file, or the first in a folder, has DEMETR's fields near its start."""
    files = _demetr_files(Path(what))
    if not files or not files[0].is_file():
        return False
    with files[0].open("rb") as stream:
        start = stream.read(4096)
    return b'"src_sent"' in start and b'"pert_sent"' in start


def _demetr_files(path: Path) -> list[Path]:
    """The file, or those in a folder; one object a line (.jsonl) or a list of them (.json)."""
    endings = (".json", ".jsonl")
    found = sorted(path.iterdir()) if path.is_dir() else [path]
    return [file for file in found if file.suffix in endings]


def read_demetr(request: Request) -> Dataset:
    """DEMETR: what a metric should notice. `translation_perturbed` has one error, `phenomenon` is its kind.

    Where `applied` is false the phenomenon did not occur in the sentence and both translations are equal.
    """
    path = existing(request.path)
    files = _demetr_files(path)
    columns: dict[str, list[Any]] = {}
    rows = 0
    for file in files:
        found = json_lines(file, []) if file.suffix == ".jsonl" else list(enumerate(_json_list(file), start=1))
        items = [item for _, item in found]
        table = _table(file, items, [number for number, _ in found], "item", [])
        missing = [name for name in DEMETR if name not in table.columns]
        if missing:
            raise UserError(f"{file} has no field {missing[0]}, which DEMETR files have.")
        for name, values in table.columns.items():
            columns.setdefault(name, [None] * rows).extend(values)
        rows += len(items)
        columns = {name: values + [None] * (rows - len(values)) for name, values in columns.items()}
    named: dict[str, Values] = {DEMETR.get(name, name): values for name, values in columns.items()}
    named["id"] = [f"{kind}:{number}" for kind, number in zip(columns["pert_name"], columns["id"], strict=True)]
    tags = columns.get("lang_tag", [None] * rows)
    codes = [language_names.named(tag) if isinstance(tag, str) else None for tag in tags]
    named["language_pair"] = [LanguagePair.of(code, "en") if code else None for code in codes]
    idle = sum(not applied for applied in columns["pert_check"])
    name = stem(request.path)
    notes = [f"{name}: in {idle} of {rows} items the phenomenon does not occur (applied is false)"] if idle else []
    table = Table(request.what, name, named, range(1, rows + 1), unit="item", notes=notes)
    return to_dataset(table, request.columns, request.language_pair)


def _from_table(request: Request, table: Table) -> Dataset:
    return to_dataset(table, request.columns, request.language_pair, language_names.detect(request.path))


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


def _json_list(path: Path) -> list[Any]:
    try:
        found = json_of(whole_text(path), label(path))
    except UserError as error:
        raise UserError(f"{error} One object a line would be .jsonl.") from None
    if not isinstance(found, list):
        raise UserError(f"{label(path)} does not contain a list. Expected a JSON list of objects, one per segment.")
    return found


def _table(path: Path, objects: Sequence[Any], numbers: Sequence[int], unit: str, notes: list[str]) -> Table:
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
    return isinstance(value, dict) and len(value) == 2 and all(map(language_names.named, value))


def _parted(texts: dict[str, str]) -> dict[str, str]:
    """Source and reference of a bilingual object, in its own order."""
    (first, source), (second, reference) = texts.items()
    pair = LanguagePair.of(str(language_names.named(first)), str(language_names.named(second)))
    return {"source": source, "reference": reference, "language_pair": str(pair)}
