"""Tables of ratings with named columns: our own exports and those of WMT's MTurk campaigns.

WMT publishes `HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time` (the score raw or
already standardised) and segment means as `SYS SID RAW.SCR Z.SCR N`.
"""

from collections.abc import Mapping, Sequence

import polars as pl

from babelquake.data.language_names import detect
from babelquake.data.ratings.table import SEGMENT_MEANS, SYSTEM, TYPES, Ratings, ratings_frame
from babelquake.data.streams import file_name
from babelquake.errors import UserError
from babelquake.languages import LanguagePair
from babelquake.paths import table_of_room

NAMES: Mapping[str, tuple[str, ...]] = {
    column: tuple(names.split()) for column, names in table_of_room("data", "columns")["ratings"].items()
}
"""What a column is, and the names it goes by, the clearest first; lower case."""

TEXTS = ("hit", "annotator", "system", "segment", "document", "spans")
NUMBERS: tuple[str, ...] = ("raw", "z", "time", "seconds", "at")


def read_delimited(path: str, header: Sequence[str], rows: Sequence[Sequence[str]], notes: list[str]) -> Ratings:
    """Ratings, or segment means where there is no column of annotators."""
    cells = _named(header, rows)
    for need in ("system", "segment"):
        if need not in cells:
            raise UserError(
                f"{path} has no column '{need}' (it has: {', '.join(header)}). "
                "Expected annotator, system, segment and score, or Appraise's CSV export."
            )
    numbers = {name: _numbers(path, name, cells[name]) for name in NUMBERS if name in cells}
    if "raw" not in numbers and "z" not in numbers:
        raise UserError(f"{path} has no column 'score' or 'raw' (it has: {', '.join(header)}).")
    if "raw" in numbers and "z" not in numbers and any(value is not None and value < 0 for value in numbers["raw"]):
        numbers["z"] = numbers.pop("raw")
        notes.append(f"{file_name(path)}: scores below 0, so they are taken as standardised already")
    name = file_name(path)
    if "annotator" not in cells:
        return Ratings(name, ratings_frame({"raw": []}), _means(cells, numbers), notes)
    frame = ratings_frame(
        {
            **{column: cells[column] for column in TEXTS if column in cells},
            **{column: numbers[column] for column in ("raw", "z", "seconds", "at") if column in numbers},
            "type": _types(path, cells.get("type"), len(rows)),
            "language_pair": _pairs(path, cells, len(rows)),
        }
    )
    if {"shown", "suggestions", "screen"} <= cells.keys() and "".join(cells["shown"]):
        frame = frame.with_columns(
            pl.Series("item", cells["screen"]),
            pl.Series("suggested", [{"true": True, "false": False}.get(cell.lower()) for cell in cells["shown"]]),
            pl.Series("suggestions", [cell or None for cell in cells["suggestions"]], dtype=pl.String),
        )
    if "time" in numbers and "seconds" not in numbers:
        frame = _time_of_a_task(frame, numbers["time"])
    return Ratings(name, frame, None, notes)


def _named(header: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[str, list[str]]:
    places = {name.strip().lower(): place for place, name in reversed(list(enumerate(header)))}
    found = {}
    for column, names in NAMES.items():
        place = next((places[name] for name in names if name in places), None)
        if place is not None:
            found[column] = [row[place].strip() for row in rows]
    return found


def _numbers(path: str, column: str, cells: Sequence[str]) -> list[float | None]:
    values: list[float | None] = []
    for line, cell in enumerate(cells, start=2):
        try:
            values.append(float(cell) if cell not in ("", "None", "NA", "nan") else None)
        except ValueError:
            raise UserError(f"{path} line {line}: '{cell}' where a number ({column}) is expected.") from None
    return values


def _types(path: str, cells: Sequence[str] | None, rows: int) -> list[str]:
    if cells is None:
        return [SYSTEM] * rows
    upper = [cell.upper().replace("-", "_") or SYSTEM for cell in cells]
    for line, name in enumerate(upper, start=2):
        if name not in TYPES:
            raise UserError(f"{path} line {line}: no type is called '{name}'. Known are: {', '.join(TYPES)}.")
    return upper


def _pairs(path: str, cells: Mapping[str, Sequence[str]], rows: int) -> list[str | None]:
    if "language_pair" in cells:
        return [cell or None for cell in cells["language_pair"]]
    if "source_language" in cells and "target_language" in cells:
        both = zip(cells["source_language"], cells["target_language"], strict=True)
        return [LanguagePair.known(f"{source}-{target}") or f"{source}-{target}" for source, target in both]
    return [detect(path)] * rows


def _time_of_a_task(frame: pl.DataFrame, times: Sequence[float | None]) -> pl.DataFrame:
    """MTurk tells the time of a whole task in each of its rows: shared out evenly, it is the time per rating."""
    task = ["hit", "annotator"]
    timed = frame.with_columns(time=pl.Series(times, dtype=pl.Float64))
    return timed.with_columns(seconds=pl.col("time") / pl.len().over([*task, "time"])).drop("time")


def _means(cells: Mapping[str, Sequence[str]], numbers: Mapping[str, Sequence[float | None]]) -> pl.DataFrame:
    rows = len(cells["system"])
    columns: dict[str, Sequence[object]] = {"system": cells["system"], "segment": cells["segment"], **numbers}
    columns["n"] = [int(float(cell)) for cell in cells["n"]] if "n" in cells else [1] * rows
    return pl.DataFrame(
        {
            name: pl.Series(name, columns.get(name, [None] * rows), dtype=kind, strict=False)
            for name, kind in SEGMENT_MEANS.items()
        }
    )
