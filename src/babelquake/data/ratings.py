"""Human ratings of translations, one row per judgement, read from whatever the field exports: `read_ratings(path)`.

- Appraise's CSV export (ExportSystemScoresToCSV), with or without error spans. Rows are user, system, item, type,
  languages and score; then, in document campaigns, the document and whether the score is of a whole document; then, in
  span campaigns, the spans; then start and end. There is no header. Documents are named `name#system`, the system by
  its bare name, with `#bad1` for degraded copies and `#duplicate1` for copies that fill up the last task. WMT24's are
  `name` alone, with `#dup` and `#incomplete` for what fills up a task.
- Tables with named columns: our own exports and those of WMT's MTurk campaigns. WMT publishes `HITId WorkerId Input.src
  Input.trg Input.item hit sys_id rid type sid score time` (the score raw or already standardised) and segment means as
  `SYS SID RAW.SCR Z.SCR N`.
- mt-metrics-eval's `.seg.score`: lines of system and score, segment after segment, `None` where nobody judged.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from babelquake.data.dataset import Dataset, Request
from babelquake.data.json_and_parquet import bounded_table
from babelquake.data.metrics_eval import segment_scores
from babelquake.data.streams import file_name, lines, stem, suffix, whole_text
from babelquake.data.table import given_table, number
from babelquake.errors import UserError
from babelquake.languages import LanguagePair, pair_in_path
from babelquake.limits import json_of
from babelquake.paths import table_of_room

RATINGS: dict[str, Any] = {
    "language_pair": pl.String,
    "hit": pl.String,
    "annotator": pl.String,
    "system": pl.String,
    "segment": pl.String,
    "type": pl.String,
    "raw": pl.Float64,
    "z": pl.Float64,
    "seconds": pl.Float64,
    "document": pl.String,
    "spans": pl.String,
    "at": pl.Float64,
}
"""Columns of a table of ratings.

`hit` is the task the rating was part of, `raw` the score as given, `z` a standardised score where the file has one,
`seconds` the time this one judgement took, `spans` marked errors as JSON, `at` when it was given (Unix time).
"""
SYSTEM, REPEAT, REFERENCE, BAD_REFERENCE = "SYSTEM", "REPEAT", "REF", "BAD_REF"
DUPLICATE, TUTORIAL = "DUPLICATE", "TUTORIAL"
TYPES = (SYSTEM, REPEAT, REFERENCE, BAD_REFERENCE, DUPLICATE, TUTORIAL)
"""What was judged, in WMT's words: a system's translation; the same shown again; the reference in its place; a
degraded copy. DUPLICATE is a copy that only fills up a task, TUTORIAL a training item."""
COUNTED = (SYSTEM, REPEAT)
"""The types whose ratings say something about a system (WMT takes the mean over both)."""
SEGMENT_MEANS: dict[str, Any] = {
    "system": pl.String,
    "segment": pl.String,
    "raw": pl.Float64,
    "z": pl.Float64,
    "n": pl.Int64,
}
"""Columns of a table of segment means, where single ratings are not published."""


@dataclass(frozen=True)
class Ratings:
    """Single ratings, or segment means where a file has nothing finer, and what its reader noticed."""

    name: str
    frame: pl.DataFrame
    """One row per rating with the columns of `RATINGS`; further columns may follow."""
    means: pl.DataFrame | None = None
    """Segment means as published; `frame` is empty then."""
    notes: list[str] = field(default_factory=list)


def ratings_frame(columns: Mapping[str, Sequence[Any] | pl.Series]) -> pl.DataFrame:
    """Columns of ratings as a table with all of `RATINGS`; missing ones are null, types default to SYSTEM."""
    rows = len(next(iter(columns.values())))
    frame = pl.DataFrame(
        {
            name: pl.Series(name, columns[name], dtype=kind, strict=False)
            if name in columns
            else pl.Series(name, [None] * rows, dtype=kind)
            for name, kind in RATINGS.items()
        }
    )
    return frame.with_columns(pl.col("type").fill_null(SYSTEM))


LAYOUTS: dict[int, tuple[str, ...]] = {
    9: ("user", "system", "item", "type", "source", "target", "score", "start", "end"),
    11: ("user", "system", "item", "type", "source", "target", "score", "document", "whole", "start", "end"),
    12: ("user", "system", "item", "type", "source", "target", "score", "document", "whole", "spans", "start", "end"),
}
ITEM_TYPES = {"TGT": SYSTEM, "BAD": BAD_REFERENCE, "CHK": REPEAT, "REF": REFERENCE}
HEADER = "username"
COPY = r"^(bad|dup|duplicate|incomplete)\d*$"
"""What says in a document's name that it is a copy."""
BREAK = 900.0
"""Seconds without an answer after which an annotator was away."""


def is_appraise(row: Sequence[str]) -> bool:
    """Whether a first row is one of Appraise's: an item type in the fourth place, or its column names."""
    return len(row) in LAYOUTS and (row[3] in ITEM_TYPES or row[0] == HEADER)


def read_appraise(name: str, rows: Sequence[Sequence[str]], notes: list[str]) -> Ratings:
    """Ratings of one campaign: the latest of repeated answers, scores of whole documents left out."""
    first = 1 if rows[0][0] == HEADER else 0
    layout = LAYOUTS[len(rows[0])]
    for line, row in enumerate(rows[first:], start=first + 1):
        if len(row) != len(layout):
            raise UserError(f"{name} row {line}: {len(row)} cells where the first row has {len(layout)}.")
        if row[3] not in ITEM_TYPES:
            raise UserError(f"{name} row {line}: '{row[3]}' is not an item type; known are {', '.join(ITEM_TYPES)}.")
    cells = dict(zip(layout, zip(*rows[first:], strict=True), strict=True))
    nothing = ("",) * len(cells["user"])
    try:
        table = pl.DataFrame(
            {
                "user": cells["user"],
                "system": cells["system"],
                "item": [int(item) for item in cells["item"]],
                "kind": cells["type"],
                "score": [float(score) for score in cells["score"]],
                "document": cells.get("document", nothing),
                "whole": [flag == "True" for flag in cells.get("whole", nothing)],
                "spans": [_checked_spans(cell, name) for cell in cells.get("spans", nothing)],
                "start": [float(time) for time in cells["start"]],
                "end": [float(time) for time in cells["end"]],
                "pair": [_language_pair(*both) for both in zip(cells["source"], cells["target"], strict=True)],
            },
            schema_overrides={"spans": pl.String},
        )
    except ValueError as error:
        raise UserError(f"{name} is not Appraise's export: {error}.") from None
    if whole := int(table["whole"].sum()):
        notes.append(f"{name}: {whole} scores of whole documents were left out")
    table = _latest(name, table.filter(~pl.col("whole")), notes)
    table = _with_segments(_with_times(table))
    frame = ratings_frame(
        {
            "language_pair": table["pair"],
            "hit": table["user"],
            "annotator": table["user"],
            "system": table["named"],
            "segment": table["segment"],
            "type": table["type"],
            "raw": table["score"],
            "seconds": table["seconds"],
            "document": table["name"],
            "spans": table["spans"],
            "at": table["end"],
        }
    )
    return Ratings(name, frame, None, notes)


def _language_pair(source: str, target: str) -> str:
    return LanguagePair.known(f"{source}-{target}") or f"{source}-{target}"


def _checked_spans(cell: str, name: str) -> str | None:
    if not cell:
        return None
    spans = json_of(cell, f"{name}: a list of error spans")
    if not isinstance(spans, list) or not all(isinstance(span, dict) for span in spans):
        raise ValueError(f"'{cell[:40]}' is not a list of error spans")
    return cell


def _latest(name: str, table: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """An annotator may go back and answer again: the answer that ended last is meant."""
    key = ["user", "item", "document", "kind", "system"]
    kept = table.with_row_index("row").sort("end", "row").unique(key, keep="last", maintain_order=True).sort("row")
    if repeated := table.height - kept.height:
        notes.append(f"{name}: {repeated} answers were given again; the latest of each counts")
    return kept


def _with_times(table: pl.DataFrame) -> pl.DataFrame:
    """Seconds since the annotator's answer before: on document pages start and end say only when a slider was touched.

    Gaps beyond `BREAK` are breaks and count as unknown; an annotator's first answer has its own start.
    """
    own = pl.col("end") - pl.col("start")
    ordered = table.sort("user", "end", maintain_order=True).with_columns(gap=pl.col("end").diff().over("user"))
    seconds = pl.col("gap").fill_null(own)
    return ordered.with_columns(seconds=pl.when(seconds <= BREAK).then(seconds)).drop("gap").sort("row")


def _with_segments(table: pl.DataFrame) -> pl.DataFrame:
    """What each item is, and the name of its segment: the document and the place in it.

    Items are numbered within a task, so the place is the item's rank among those of its document. A document that is
    split over two tasks goes on where the first ended: that is so where no annotator saw more items of it, under any
    system, than all of them together saw under this one.
    """
    parts = pl.col("document").str.split("#")
    is_copy = pl.element().str.contains(COPY)
    after = parts.list.slice(1)
    table = table.with_columns(
        name=parts.list.get(0),
        named=after.list.eval(pl.element().filter(~is_copy)).list.first().fill_null(pl.col("system")),
        copy=after.list.eval(pl.element().filter(is_copy)).list.first().fill_null(""),
        tutorial=~pl.col("document").str.contains("#", literal=True) & pl.col("system").str.contains("(?i)tutorial"),
    ).with_columns(
        type=pl.when("tutorial")
        .then(pl.lit(TUTORIAL))
        .when(pl.col("copy").str.contains("^(dup|incomplete)"))
        .then(pl.lit(DUPLICATE))
        .otherwise(pl.col("kind").replace_strict(ITEM_TYPES))
    )
    if not table["document"].str.len_chars().sum():
        return table.with_columns(segment=pl.col("item").cast(pl.String))
    seen = table.group_by("user", "document", "name", "copy").agg(items=pl.len())
    longest = seen.filter(pl.col("copy") == "").group_by("name").agg(longest=pl.col("items").max())
    together = seen.group_by("document").agg(together=pl.col("items").sum(), users=pl.len())
    table = table.join(longest, on="name", how="left").join(together, on="document", how="left")
    split = (pl.col("users") > 1) & (pl.col("together") <= pl.col("longest"))
    own = pl.col("item").rank("ordinal").over("user", "document")
    joint = pl.struct("user", "item").rank("ordinal").over("document")
    place = pl.when(split).then(joint).otherwise(own)
    return table.with_columns(segment=pl.format("{}:{}", "name", place)).sort("row")


NAMES: Mapping[str, tuple[str, ...]] = {
    column: tuple(names.split()) for column, names in table_of_room("data", "columns")["ratings"].items()
}
"""What a column is, and the names it goes by, the clearest first; lower case."""

TEXTS = ("hit", "annotator", "system", "segment", "document")
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
    numbers = {
        name: [number(cell, f"{path} line {line}: {name}") for line, cell in enumerate(cells[name], start=2)]
        for name in NUMBERS
        if name in cells
    }
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
            **({"spans": _spans(path, cells["spans"])} if "spans" in cells else {}),
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


def _spans(path: str, cells: Sequence[str]) -> list[str | None]:
    found = []
    for line, cell in enumerate(cells, start=2):
        try:
            found.append(_checked_spans(cell, f"{path} line {line}"))
        except ValueError as error:
            raise UserError(f"{path} line {line}: {error}.") from None
    return found


def _types(path: str, cells: Sequence[str] | None, rows: int) -> list[str]:
    if cells is None:
        return [SYSTEM] * rows
    upper = [cell.upper().replace("-", "_") or SYSTEM for cell in cells]
    for line, name in enumerate(upper, start=2):
        if name not in TYPES:
            raise UserError(f"{path} line {line}: no type is called '{name}'. Available: {', '.join(TYPES)}.")
    return upper


def _pairs(path: str, cells: Mapping[str, Sequence[str]], rows: int) -> list[str | None]:
    if "language_pair" in cells:
        return [cell or None for cell in cells["language_pair"]]
    if "source_language" in cells and "target_language" in cells:
        both = zip(cells["source_language"], cells["target_language"], strict=True)
        return [_language_pair(*languages) for languages in both]
    return [pair_in_path(path)] * rows


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


def read_segment_scores(path: str | Path) -> Ratings:
    """Segment means; a segment is named by its place, beginning with 1, among the lines of its system."""
    rows = [
        (system, str(place), score, None, 1)
        for system, scores in segment_scores(path).items()
        for place, score in enumerate(scores, start=1)
        if score is not None
    ]
    if not rows:
        raise UserError(f"{path} has no score: every line says None.")
    means = pl.DataFrame(
        rows, schema=["system", "segment", "raw", "z", "n"], orient="row", schema_overrides={"z": pl.Float64}
    )
    return Ratings(file_name(path), ratings_frame({"raw": []}), means)


def read_ratings(path: str | Path | Any) -> Ratings:
    """Ratings from Appraise's CSV export, WMT's MTurk tables, `.seg.score` files or any table with named columns.

    A table needs the columns annotator, system, segment and score under these or the names the field uses (WorkerId,
    sys_id, sid, raw, …); without annotators it is read as segment means. Tables of polars, pandas, pyarrow and datasets
    are read too.
    """
    notes: list[str] = []
    if not isinstance(path, str | Path):
        if (given := given_table(path)) is None:
            raise UserError("ratings are a file, or a table with the columns annotator, system, segment and score.")
        return read_delimited("the table", *_cells(given), notes)
    if Path(path).is_file() and _is_database(Path(path)):
        raise UserError(f"{path} is a project: analyse it with `babelquake annotate analyse {path}`.")
    if suffix(path) == ".parquet":
        return read_delimited(str(path), *_cells(bounded_table(Path(path), str(path))), notes)
    if str(path).removesuffix(".gz").endswith(".score"):
        return read_segment_scores(path)
    rows = _rows_of_csv(path, notes) if suffix(path) == ".csv" else []
    if rows and is_appraise(rows[0]):
        return read_appraise(file_name(path), rows, notes)
    if not rows or len(rows[0]) < 3:
        rows = _rows_of_text(path, notes)
    return read_delimited(str(path), rows[0], rows[1:], notes)


def is_rated(what: str) -> bool:
    """Whether a CSV file is Appraise's export, which a study can take for data: ratings and errors without texts."""
    if suffix(what) != ".csv" or not Path(what).is_file():
        return False
    try:
        return is_appraise(next(csv.reader([next(lines(what), "")]), []))
    except csv.Error:  # not CSV at all: its reader says so
        return False


def read_rated(request: Request) -> Dataset:
    """One row per rated translation: the mean of its scores, and the errors that its first annotator marked."""
    ratings = read_ratings(request.what)
    counted = ratings.frame.filter(pl.col("type").is_in(COUNTED))
    rows = counted.group_by("language_pair", "system", "segment", maintain_order=True).agg(
        pl.col("raw").mean(), pl.col("document").first(), pl.col("spans").drop_nulls().first()
    )
    if request.language_pair:
        rows = rows.filter(pl.col("language_pair") == LanguagePair(request.language_pair))
    segments = rows.select(
        id="segment",
        source=pl.lit(None, pl.String),
        references=pl.lit(None, pl.List(pl.String)),
        translation=pl.lit(None, pl.String),
        system="system",
        score="raw",
        language_pair="language_pair",
        document="document",
        spans="spans",
    )
    return Dataset(stem(request.path), segments, notes=tuple(ratings.notes))


def _is_database(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(15) == b"SQLite format 3"


def _rows_of_csv(path: str | Path, notes: list[str]) -> list[list[str]]:
    try:
        rows = list(csv.reader(io.StringIO(whole_text(path, notes), newline=""), strict=True))
    except csv.Error as error:
        raise UserError(f"{path} is not CSV: {error}.") from None
    rows = [row for row in rows if any(row)]
    if not rows:
        raise UserError(f"{path} is empty. Expected one rating a line.")
    return rows


def _rows_of_text(path: str | Path, notes: list[str]) -> list[list[str]]:
    """Cells between tabs; WMT's own tables name or separate their columns by single spaces."""
    found = [line for line in lines(path, notes) if line.strip()]
    if not found:
        raise UserError(f"{path} is empty. Expected column names, then one rating a line.")
    header = found[0].split("\t") if "\t" in found[0] else found[0].split()
    rows = [line.split("\t") if "\t" in line else line.split() for line in found[1:]]
    for line, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise UserError(
                f"{path} line {line}: {len(row)} columns where the header has {len(header)} ({', '.join(header)})."
            )
    return [header, *rows]


def _cells(frame: pl.DataFrame) -> tuple[list[str], list[list[str]]]:
    return frame.columns, [["" if cell is None else str(cell) for cell in row] for row in frame.iter_rows()]
