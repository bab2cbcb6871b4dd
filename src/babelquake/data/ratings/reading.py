"""Which reader takes a file of ratings: by its ending and its first line.

mt-metrics-eval's `.seg.score`: lines of system and score, segment after segment, `None` where nobody judged.
"""

import csv
import io
from pathlib import Path
from typing import Any

import polars as pl

from babelquake.data.dataset import Dataset
from babelquake.data.metrics_eval import segment_scores
from babelquake.data.parquet import bounded_table
from babelquake.data.ratings.appraise import is_appraise, read_appraise
from babelquake.data.ratings.delimited import read_delimited
from babelquake.data.ratings.table import COUNTED, Ratings, ratings_frame
from babelquake.data.request import Request
from babelquake.data.streams import file_name, lines, stem, suffix, whole_text
from babelquake.data.table import given_table
from babelquake.errors import UserError
from babelquake.languages import LanguagePair


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
    rows = _csv(path, notes) if suffix(path) == ".csv" else []
    if rows and is_appraise(rows[0]):
        return read_appraise(file_name(path), rows, notes)
    if not rows or len(rows[0]) < 3:
        rows = _table(path, notes)
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


def _csv(path: str | Path, notes: list[str]) -> list[list[str]]:
    try:
        rows = list(csv.reader(io.StringIO(whole_text(path, notes), newline=""), strict=True))
    except csv.Error as error:
        raise UserError(f"{path} is not CSV: {error}.") from None
    rows = [row for row in rows if any(row)]
    if not rows:
        raise UserError(f"{path} is empty. Expected one rating a line.")
    return rows


def _table(path: str | Path, notes: list[str]) -> list[list[str]]:
    """Cells between tabs; WMT's own tables name or separate their columns by single spaces."""
    found = [line for line in lines(path, notes) if line.strip()]
    if not found:
        raise UserError(f"{path} is empty. Expected column names, then one rating a line.")
    header = found[0].split("\t") if "\t" in found[0] else found[0].split()
    rows = [line.split("\t") if "\t" in line else line.split() for line in found[1:]]
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise UserError(
                f"{path} line {number}: {len(row)} columns where the header has {len(header)} ({', '.join(header)})."
            )
    return [header, *rows]


def _cells(frame: pl.DataFrame) -> tuple[list[str], list[list[str]]]:
    return frame.columns, [["" if cell is None else str(cell) for cell in row] for row in frame.iter_rows()]
