"""Appraise's CSV export (ExportSystemScoresToCSV), with or without error spans.

Rows are user, system, item, type, languages and score; then, in document campaigns, the document and whether the score
is of a whole document; then, in span campaigns, the spans; then start and end. There is no header. Documents are named
`name#system`, the system by its bare name, with `#bad1` for degraded copies and `#duplicate1` for copies that fill up
the last task. WMT24's are `name` alone, with `#dup` and `#incomplete` for what fills up a task.
"""

from collections.abc import Sequence

import polars as pl

from babelquake.data.ratings.table import (
    BAD_REFERENCE,
    DUPLICATE,
    REFERENCE,
    REPEAT,
    SYSTEM,
    TUTORIAL,
    Ratings,
    ratings_frame,
)
from babelquake.errors import UserError
from babelquake.languages import LanguagePair
from babelquake.limits import json_of

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
                "pair": [_pair(*both) for both in zip(cells["source"], cells["target"], strict=True)],
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


def _pair(source: str, target: str) -> str:
    return LanguagePair.known(f"{source}-{target}") or f"{source}-{target}"


def _checked_spans(cell: str, name: str) -> str | None:
    if not cell:
        return None
    spans = json_of(cell, f"{name}: a list of error spans")
    if not isinstance(spans, list):
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
