"""Errors that judges and metrics mark, beside those that people marked.

People's are a column `spans` of the data: a list of objects with `start`, `end` and `severity` (Appraise's `start_i`
and `end_i` too), or the columns `start_indices`, `end_indices` and `error_types` of the WMT25 evaluation task. Judges'
come from scorers that mark errors, or from a file of the same form (`--spans NAME=FILE`). Omissions that have no place
in the translation (`missing`) and errors of undecided severity count for nobody.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from babelquake.data import Dataset, read
from babelquake.engine import Engine
from babelquake.errors import UserError, setting
from babelquake.limits import json_of
from babelquake.runs.measures import Measure
from babelquake.scorers import Questions, Scorer
from babelquake.scorers.base import Array
from babelquake.stats.reliability import SPAN_FORMULAS, Mark, span_row
from babelquake.stats.resampling import over_units
from babelquake.studies.agreement import AGREEMENTS, agreement_measures
from babelquake.studies.cells import Cell, Families, Place, difference_of, enough, measured
from babelquake.studies.segment_units import unit_keys

SPANS = ("spans", "error_spans", "errors")
"""Names that a column of marked errors may have."""
INDICES = ("start_indices", "end_indices", "error_types")
NO_ERROR = "no-error"
START, END = ("start", "start_i"), ("end", "end_i")
MAJOR, MINOR, LEFT_OUT = ("major", "critical"), ("minor",), ("undecided", "neutral")
MISSING = "missing"
Marks = list[Mark] | None
"""The errors of a translation; None where nobody looked for any."""


def has_marks(data: Dataset) -> bool:
    """Whether people marked errors in the data."""
    return any(data.has(name) for name in SPANS) or all(data.has(name) for name in INDICES)


def marks_in(data: Dataset) -> list[Marks]:
    """The errors marked in each row of the data."""
    segments = data.segments
    if all(data.has(name) for name in INDICES):
        rows = segments.select(pl.col(name).cast(pl.String) for name in INDICES).iter_rows()
        return [_by_indices(row, f"{data.name} row {number}") for number, row in enumerate(rows, start=1)]
    column = next((name for name in SPANS if data.has(name)), None)
    if column is None:
        raise UserError(
            f"{data.name} has no marked errors: a column spans with a list of start, end and severity, "
            f"or {', '.join(INDICES)}."
        )
    cells = enumerate(segments[column].to_list(), start=1)
    return [_marks(cell, f"{data.name} row {number}: {column}") for number, cell in cells]


def named_spans(spans: Sequence[str]) -> dict[str, Dataset]:
    """`NAME=FILE` or `FILE`, read: name → data."""
    found: dict[str, Dataset] = {}
    for given in spans:
        name, equals, file = given.partition("=")
        if not equals or Path(given).exists():
            name, file = Path(given).stem, given
        if name in found:
            raise UserError(f"{setting('spans')}: two files are called '{name}'. Give them names: NAME=FILE.")
        found[name] = read(file)
    return found


def marks_of(data: Dataset, other: Dataset, name: str) -> list[Marks]:
    """What another file says of each row of the data, found by id and system, or by system and translation."""
    theirs = marks_in(other)
    best: list[Marks] = []
    for columns in (("id", "system"), ("system", "translation"), ("translation",)):
        if "translation" in columns and not (data.has("translation") and other.has("translation")):
            continue
        known: dict[tuple[Any, ...], Marks] = dict(zip(other.segments.select(columns).iter_rows(), theirs, strict=True))
        found = [known.get(key) for key in data.segments.select(columns).iter_rows()]
        if len(found) - found.count(None) > len(best) - best.count(None):
            best = found
    if best.count(None) == len(best):
        raise UserError(
            f"{setting('spans', name)}: it has no translation of {data.name}, neither by id and system nor by text."
        )
    return best


def marked_by(scorers: Sequence[Scorer], questions: Questions, engine: Engine) -> dict[str, list[Marks]]:
    """The errors that each of some scorers marks."""
    return {
        scorer.name: [
            _marks([span._asdict() for span in spans], scorer.name) for spans in engine.mark(scorer, questions)
        ]
        for scorer in scorers
    }


def marks_frame(judges: Mapping[str, Sequence[Marks]]) -> pl.DataFrame:
    """What every judge marked, one row per translation that it looked at."""
    kind = pl.List(pl.Struct({"start": pl.Int64, "end": pl.Int64, "major": pl.Boolean}))
    rows = [
        (row, name, [mark._asdict() for mark in marks])
        for name, each in judges.items()
        for row, marks in enumerate(each)
        if marks is not None
    ]
    return pl.DataFrame(rows, schema={"row": pl.UInt32, "scorer": pl.String, "marks": kind}, orient="row")


def span_measures(
    segments: pl.DataFrame,
    gold: Sequence[Marks],
    judges: Mapping[str, Sequence[Marks]],
    statistics: Sequence[str],
    resamples: int,
    seed: int,
) -> list[Measure]:
    """Precision, recall and F₁ of every judge per language pair; of every two judges the difference in F₁."""
    cells: list[Cell] = []
    families = Families()
    lengths = segments["translation"].str.len_chars().to_list()
    for (pair,), part in segments.with_row_index("place").group_by("language_pair", maintain_order=True):
        places = part["place"].to_list()
        keys = unit_keys(segments[places])
        units = np.unique(keys)
        tables: dict[str, Array] = {}
        for name, marks in judges.items():
            rows, n = _rows(places, gold, marks, lengths)
            if not n:
                continue
            tables[name] = over_units(keys, rows, units)
            cell = Cell(Place(pair, name), units, n, sizes=dict.fromkeys(SPAN_FORMULAS, n))
            wanted = {statistic: SPAN_FORMULAS[statistic] for statistic in statistics}
            cell.compute(wanted, [tables[name]], resamples, seed)
            cells.append(cell)
        if "span_f1" not in statistics:
            continue
        for one, other in combinations(tables, 2):
            looked = zip(gold, judges[one], judges[other], strict=True)
            both = [None if None in marks else marks[0] for marks in looked]
            sides = [over_units(keys, _rows(places, both, judges[name], lengths)[0], units) for name in (one, other)]
            formula, draws = SPAN_FORMULAS["span_f1"], enough(resamples)
            drawn, test = difference_of(formula, sides, units, draws, seed, few=float("inf"))
            place = {"language_pair": pair, "scorer": one, "other": other}
            n = sum(both[row] is not None for row in places)
            measure = measured(AGREEMENTS["span_f1"].difference(), drawn, n, **place)
            families.add((pair, f"{one} − {other}", "agreement of two scorers"), measure, test)
    return agreement_measures(cells) + families.judge()


def _rows(
    places: Sequence[int], gold: Sequence[Marks], marks: Sequence[Marks], lengths: Sequence[int | None]
) -> tuple[Array, int]:
    """A row of counts per translation, 0 where people or the judge did not look at it; how many both looked at."""
    rows = np.zeros((len(places), 3))
    n = 0
    for number, place in enumerate(places):
        mine, theirs = gold[place], marks[place]
        if mine is not None and theirs is not None:
            rows[number] = span_row(mine, theirs, lengths[place])
            n += 1
    return rows, n


def _marks(cell: Any, where: str) -> Marks:
    """A cell with a list of errors, or the same as JSON."""
    if cell is None or cell == "":
        return None
    if isinstance(cell, str):
        cell = json_of(cell, where)
    if not isinstance(cell, list) or not all(isinstance(item, Mapping) for item in cell):
        raise UserError(f"{where} is not a list of errors, each with start, end and severity.")
    return [mark for item in cell if (mark := _mark(item, where)) is not None]


def _mark(item: Mapping[str, Any], where: str) -> Mark | None:
    start, end = (next((item[name] for name in names if item.get(name) is not None), None) for names in (START, END))
    severity = str(item.get("severity", "")).lower()
    if start == MISSING or severity in LEFT_OUT:
        return None
    if severity not in (*MAJOR, *MINOR):
        raise UserError(f"{where}: severity '{severity}'. Expected {', '.join((*MINOR, *MAJOR))}.")
    try:
        return Mark(int(start), int(end), severity in MAJOR)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise UserError(f"{where}: an error has start {start!r} and end {end!r}. Expected two numbers.") from None


def _by_indices(row: Sequence[str | None], where: str) -> Marks:
    """Indices and severities between spaces, as the WMT25 evaluation task has them."""
    starts, ends, severities = ((cell or "").split() for cell in row)
    if row[2] is None:
        return None
    if severities == [NO_ERROR]:
        return []
    if not len(starts) == len(ends) == len(severities):
        raise UserError(f"{where}: {len(starts)} starts, {len(ends)} ends and {len(severities)} severities.")
    items = zip(starts, ends, severities, strict=True)
    found = [_mark({"start": start, "end": end, "severity": severity}, where) for start, end, severity in items]
    return [mark for mark in found if mark is not None]
