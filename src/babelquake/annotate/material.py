"""What people are to judge: tuples of reference and translations, from an attack run, a table, or any data set."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

from babelquake.annotate.protocols import MOST_SIDES, Gather
from babelquake.data import read
from babelquake.data.dataset import Request, Targets
from babelquake.data.json_and_parquet import json_lines, parquet_frame
from babelquake.data.streams import label, lines, suffix, whole_text
from babelquake.errors import UserError, setting
from babelquake.randomness import Stream

PAIR = ("original", "perturbed")
"""The columns, and the sides, of a tuple whose translation was perturbed."""
SINGLE = "translation"
TEXTS = frozenset({"id", "tuple", "row", "source", "reference", "references", "translation", "document", *PAIR})
LONGEST_GROUP, MOST_GROUPS = 60, 100
BILINGUAL = frozenset({".xlf", ".xliff", ".sdlxliff", ".mxliff", ".tmx"})
"""Endings of files whose targets are references unless somebody says otherwise."""
GROUPS = ("document", "doc", "year", "domain")
"""Further columns of a data set that tasks can be balanced over."""


@dataclass(frozen=True)
class Tuple:
    """One thing to judge: its translations by side, what to judge them against, and the columns it belongs to."""

    id: str
    """Its name in the project, unlike any other's."""
    segment: str
    """The segment's name in an analysis; several systems' translations share it."""
    texts: Mapping[str, str]
    """The side's name – original and perturbed, a single translation, or two systems – and its text."""
    systems: Mapping[str, str]
    source: str = ""
    reference: str = ""
    language_pair: str = ""
    document: str = ""
    place: int = 0
    """Where it stood in the data: the order of a document's segments."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """Columns to balance over: victim, recipe, year and whatever else the table has."""
    suggestions: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """By side, errors that a detector or a metric sees; see `babelquake.annotate.suggest`."""


def read_material(
    what: str | Path | Sequence[str | Path],
    gather: Gather = "one",
    columns: Mapping[str, str] | None = None,
    targets: Targets = "reference",
    language_pair: str | None = None,
) -> list[Tuple]:
    """The tuples of an attack run's folder, of a table with `original` and `perturbed`, or of a data set.

    A data set's translations are judged as `gather` says: one by one, every two systems' of a segment, or all of them.
    Several data sets are read as one; `columns`, `targets` and `language_pair` say what is what in them, as
    `babelquake.data.read` does.
    """
    several = [what] if isinstance(what, str | Path) else list(what)
    if len(several) > 1 or columns or targets != "reference":
        return _of_data(several, gather, columns, targets, language_pair)
    what = several[0]
    path = Path(what)
    if (path / "run.json").is_file():
        rows = _of_run(path)
    else:
        found = _rows(what) if path.is_file() else None
        if found is None or not set(PAIR) <= found[0].keys():
            return _of_data([what], gather, language_pair=language_pair)
        rows = found
    grouping = _group_columns(rows)
    tuples = [_tuple(row, place, grouping, language_pair or "") for place, row in enumerate(rows, start=1)]
    return _distinct(tuples, str(what))


def _group_columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Columns that sort tuples into groups: a few short values, such as a victim, a recipe or a year."""
    found = []
    for name in rows[0]:
        values = {row.get(name) for row in rows if isinstance(row.get(name), str | int)}
        short = all(not isinstance(value, bool) and len(str(value)) <= LONGEST_GROUP for value in values)
        if name not in TEXTS and 0 < len(values) <= MOST_GROUPS and short:
            found.append(name)
    return found


def _of_run(folder: Path) -> list[dict[str, Any]]:
    """The table of a run that holds originals and what was found for them."""
    for file in sorted(folder.glob("*.parquet")):
        if set(PAIR) <= set(pl.scan_parquet(file, glob=False).collect_schema()):
            whole = pl.read_parquet(file, glob=False)
            frame = whole.filter(pl.col("perturbed").is_not_null() & pl.col("original").is_not_null())
            if "success" in frame.columns:
                frame = frame.filter(pl.col("success").cast(pl.Boolean))
            if "goal" in frame.columns and "collapse" in frame["goal"]:
                raise UserError(f"{folder} attacked the sources of a system, so it has no translations to rate.")
            if frame.is_empty():
                raise UserError(f"{folder} did not find any perturbation, so there is nothing to rate.")
            return frame.to_dicts()
    raise UserError(f"{folder} is not an attack run: it has no table with original and perturbed translations.")


def _rows(what: str | Path) -> list[dict[str, Any]] | None:
    """The rows of a table, by its ending; None where it is not a table with column names."""
    kind = suffix(what)
    if kind == ".parquet":
        return parquet_frame(Request(str(what))).to_dicts()
    if kind in (".jsonl", ".ndjson"):
        rows = [row for _, row in json_lines(Path(what), [])]
        return rows if rows and all(isinstance(row, dict) for row in rows) else None
    if kind not in (".tsv", ".csv", ".tab"):
        return None
    if kind == ".csv":
        cells = [row for row in csv.reader(io.StringIO(whole_text(what), newline="")) if row]
    else:
        cells = [line.split("\t") for line in lines(what) if line]
    if len(cells) < 2:
        return None
    for number, row in enumerate(cells[1:], start=2):
        if len(row) != len(cells[0]) and set(PAIR) <= set(cells[0]):
            raise UserError(f"{label(what)} line {number}: {len(row)} columns where the header has {len(cells[0])}.")
    return [dict(zip(cells[0], row, strict=False)) for row in cells[1:]]


def _tuple(row: Mapping[str, Any], place: int, columns: Sequence[str], language_pair: str) -> Tuple:
    texts = {side: str(row[side]) for side in PAIR}
    reference = row.get("reference") or (row.get("references") or [""])[0]
    name = str(row.get("tuple") or row.get("id") or place)
    return Tuple(
        id=name,
        segment=name,
        texts=texts,
        systems=dict.fromkeys(PAIR, str(row.get("system") or "")),
        source=str(row.get("source") or ""),
        reference=str(reference or ""),
        language_pair=str(row.get("language_pair") or language_pair),
        document=str(row.get("document") or ""),
        place=place,
        groups={name: str(row[name]) for name in columns if row.get(name) is not None},
    )


def _of_data(
    what: Sequence[str | Path],
    gather: Gather,
    columns: Mapping[str, str] | None = None,
    targets: Targets = "reference",
    language_pair: str | None = None,
) -> list[Tuple]:
    data = read(what, columns=columns, targets=targets, language_pair=language_pair)
    named = ", ".join(map(label, what))
    if not data.has("translation"):
        bilingual = any(suffix(one) in BILINGUAL for one in what) and data.has("references")
        wanted = setting("targets", "translation") if bilingual else "a column `translation`, or original and perturbed"
        raise UserError(f"{named}: no translations to rate. Expected {wanted}.")
    rows = enumerate(data.segments.iter_rows(named=True))
    singles = [_single(row, place) for place, row in rows if row["translation"]]
    return singles if gather == "one" else _together(singles, gather, named)


def _single(row: Mapping[str, Any], place: int) -> Tuple:
    system = row["system"] or ""
    further = {name: str(row[name]) for name in GROUPS if row.get(name) is not None}
    return Tuple(
        id=f"{system}|{row['id']}",
        segment=row["id"],
        texts={SINGLE: row["translation"]},
        systems={SINGLE: system},
        source=row["source"] or "",
        reference=(row["references"] or [""])[0] or "",
        language_pair=row["language_pair"] or "",
        document=str(row.get("document") or row.get("doc") or ""),
        place=place,
        groups={"system": system, **further},
    )


def _together(singles: Sequence[Tuple], gather: Gather, what: str) -> list[Tuple]:
    """Of every segment each two systems' translations, unless they are the same text, or all systems' at once."""
    by_segment: dict[str, dict[str, Tuple]] = {}
    for one in singles:
        by_segment.setdefault(one.segment, {})[one.systems[SINGLE]] = one
    found = []
    for segment, several in by_segment.items():
        groups = combinations(several, 2) if gather == "two" else [tuple(several)]
        for names in groups:
            texts = {name: several[name].texts[SINGLE] for name in names}
            if gather == "all" or len(set(texts.values())) == len(texts):
                further = {name: value for name, value in several[names[0]].groups.items() if name != "system"}
                found.append(
                    replace(
                        several[names[0]],
                        id="|".join((*names, segment)) if gather == "two" else segment,
                        texts=texts,
                        systems={name: name for name in names},
                        groups={"systems": " / ".join(names), **further},
                    )
                )
    if not any(len(one.texts) > 1 for one in found):
        need = "two systems that translate the same segments differently" if gather == "two" else "several systems"
        raise UserError(
            f"{what}: {'pairwise judgements need' if gather == 'two' else 'one screen for a source needs'} {need}. "
            "Rows are of one source by their id; the column `system` says whose they are."
        )
    return found


def on_screens(tuples: Sequence[Tuple], at_once: int, seed: int) -> list[Tuple]:
    """Tuples of many systems cut into screens as even as can be, each of at most so many translations, drawn by seed.

    Systems that say the same stay together: equal translations are shown once.
    """
    if not 2 <= at_once <= MOST_SIDES:
        raise UserError(f"{setting('at_once', at_once)}: from 2 to {MOST_SIDES} translations fit on a screen.")
    found = []
    for one in tuples:
        same: dict[str, list[str]] = {}
        for side, text in one.texts.items():
            same.setdefault(text, []).append(side)
        screens = -(-len(same) // at_once)
        if screens == 1:
            found.append(one)
            continue
        drawn = Stream(seed, "screens", one.id).shuffled(list(same.values()))
        for number in range(screens):
            sides = [side for group in drawn[number::screens] for side in group]
            found.append(
                replace(
                    one,
                    id=f"{one.id}/{number + 1}",
                    texts={side: one.texts[side] for side in sides},
                    systems={side: one.systems[side] for side in sides},
                )
            )
    return found


def _distinct(tuples: Sequence[Tuple], what: str) -> list[Tuple]:
    """The tuples with separate ids: an attack may be found for one translation by several recipes and victims."""
    seen: dict[str, int] = {}
    found = []
    for one in tuples:
        seen[one.id] = seen.get(one.id, 0) + 1
        again = f"{one.id}/{seen[one.id]}" if seen[one.id] > 1 else one.id
        found.append(replace(one, id=again, segment=again))
    if not found:
        raise UserError(f"{what} has no tuples to rate.")
    return found
