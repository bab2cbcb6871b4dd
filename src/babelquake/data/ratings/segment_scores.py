"""mt-metrics-eval's `.seg.score`: lines of system and score, segment after segment, `None` where nobody judged."""

from pathlib import Path

import polars as pl

from babelquake.data.ratings.table import Ratings, ratings_frame
from babelquake.data.streams import file_name, lines
from babelquake.errors import UserError


def read_segment_scores(path: str | Path) -> Ratings:
    """Segment means; a segment is named by its place, beginning with 1, among the lines of its system."""
    places: dict[str, int] = {}
    rows = []
    for number, line in enumerate(lines(path), start=1):
        system, tab, score = line.partition("\t")
        if not tab:
            raise UserError(f"{path} line {number}: expected a system, a tab and a score or None.")
        places[system] = places.get(system, 0) + 1
        if score == "None":
            continue
        try:
            rows.append((system, str(places[system]), float(score), None, 1))
        except ValueError:
            raise UserError(f"{path} line {number}: '{score}' where a score or None is expected.") from None
    if not rows:
        raise UserError(f"{path} holds no score: every line says None.")
    means = pl.DataFrame(
        rows, schema=["system", "segment", "raw", "z", "n"], orient="row", schema_overrides={"z": pl.Float64}
    )
    return Ratings(file_name(path), ratings_frame({"raw": []}), means)
