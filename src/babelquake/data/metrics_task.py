"""The package of a WMT metrics task (2016–2020): judgements as published beside all systems' outputs.

`manual-evaluation/RR-seglevel.csv` holds better/worse judgements (`LP DATA SID BETTER WORSE`, a space between), and
`DA-seglevel.csv` direct assessments (`LP DATA SYSTEM SID SCORE`; the columns are found by name). Somewhere below the
folder lie `sources/`, `references/` and `system-outputs/TESTSET/PAIR/TESTSET.SYSTEM.PAIR`. Segments count from 1.
Several systems with one translation are written `one+other`; the first is taken.
"""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import polars as pl

from babelquake.data.dataset import Dataset
from babelquake.data.joining import join
from babelquake.data.plain_text import text_lines
from babelquake.data.request import Request
from babelquake.data.streams import lines
from babelquake.data.table import Table, Values, number, to_dataset
from babelquake.errors import UserError, did_you_mean
from babelquake.languages import LanguagePair

RANKED, ASSESSED = "RR-seglevel.csv", "DA-seglevel.csv"
COLUMNS = {RANKED: ("LP", "DATA", "SID", "BETTER", "WORSE"), ASSESSED: ("LP", "DATA", "SYSTEM", "SID", "SCORE")}
"""The columns by position, for files whose header lacks some (WMT18's)."""
SYNONYMS = {"SYS": "SYSTEM", "HUMAN": "SCORE", "DA": "SCORE", "Z": "SCORE", "RAW": "SCORE", "TESTSET": "DATA"}


class Judged(NamedTuple):
    """One line of a file of judgements."""

    where: str
    cells: dict[str, str]


def is_metrics_task(what: str) -> bool:
    """Whether a path is such a folder, or such a folder with one of its language pairs appended."""
    path = Path(what)
    return bool(_files(path)) or (not path.exists() and bool(_files(path.parent)))


def read_metrics_task(request: Request) -> Dataset:
    """One row per translation that somebody judged, for one language pair or all, and their `preferences`."""
    path = request.path
    root, wanted = (path, request.language_pair) if _files(path) else (path.parent, path.name)
    judged = {name: list(_judgements(file)) for name, file in _files(root).items()}
    known = list(dict.fromkeys(row.cells["LP"] for rows in judged.values() for row in rows))
    if wanted is not None:
        chosen = [pair for pair in known if LanguagePair.known(pair) == (LanguagePair.known(wanted) or wanted)]
        if not chosen:
            raise UserError(f"{root} has no judgements of '{wanted}'. {did_you_mean(wanted, known)}")
        known = chosen
    parts = [_pair(root, pair, judged) for pair in known]
    return parts[0] if len(parts) == 1 else join(parts, one_set=True)


def _files(folder: Path) -> dict[str, Path]:
    places = ((name, folder / within / name) for name in COLUMNS for within in ("manual-evaluation", "."))
    return {name: file for name, file in places if file.is_file()}


def _judgements(file: Path) -> Iterator[Judged]:
    """The lines of a file, their cells by name."""
    rows = lines(file)
    header = [SYNONYMS.get(name.upper(), name.upper()) for name in next(rows, "").split()]
    for count, line in enumerate(rows, start=2):
        cells = line.split()
        names = header if len(header) == len(cells) else list(COLUMNS[file.name])
        if len(cells) != len(names):
            raise UserError(f"{file} line {count}: {len(cells)} columns. Expected {' '.join(COLUMNS[file.name])}.")
        yield Judged(f"{file} line {count}", dict(zip(names, cells, strict=True)))


def _pair(root: Path, pair: str, judged: dict[str, list[Judged]]) -> Dataset:
    """The translations of one language pair."""
    languages = LanguagePair(pair)
    rows: dict[tuple[str, int, str], int] = {}
    scores: dict[int, float | None] = {}
    sides: dict[str, list[int]] = {"better": [], "worse": []}
    for where, cells in (row for row in judged.get(RANKED, []) if row.cells["LP"] == pair):
        for side, places in sides.items():
            places.append(rows.setdefault(_key(where, cells, side.upper()), len(rows)))
    for where, cells in (row for row in judged.get(ASSESSED, []) if row.cells["LP"] == pair):
        row = rows.setdefault(_key(where, cells, "SYSTEM"), len(rows))
        scores[row] = number(cells["SCORE"], f"{where}: score")
    texts: dict[str, list[str]] = {"source": [], "reference": [], "translation": []}
    for test_set, segment, system in rows:
        plain = f"{test_set}-{languages.source.code}{languages.target.code}"
        for field, place in (
            ("source", _text(root, "sources", f"{plain}-src.{languages.source.code}")),
            ("reference", _text(root, "references", f"{plain}-ref.{languages.target.code}")),
            ("translation", _output(root, test_set, pair, system)),
        ):
            texts[field].append(_line(place, segment))
    columns: dict[str, Values] = {
        "id": [f"{pair}:{segment}" for _, segment, _ in rows],
        **texts,
        "system": [system for _, _, system in rows],
        "score": [scores.get(row) for row in range(len(rows))],
    }
    name = f"{root.name}/{pair}"
    table = Table(str(root), name, columns, [segment for _, segment, _ in rows])
    found = to_dataset(table, None, None, languages)
    preferences = pl.DataFrame(sides, schema={"better": pl.Int64, "worse": pl.Int64}) if sides["better"] else None
    return Dataset(name, found.segments, preferences, {}, found.notes)


def _key(where: str, cells: dict[str, str], column: str) -> tuple[str, int, str]:
    """Test set, segment and system of a judgement."""
    missing = next((name for name in ("DATA", "SID", column) if name not in cells), None)
    if missing:
        raise UserError(f"{where}: no column {missing}.")
    if not cells["SID"].isdecimal():
        raise UserError(f"{where}: the segment is '{cells['SID']}'. Expected a number from 1.")
    return cells["DATA"], int(cells["SID"]), cells[column].split("+")[0]


def _text(root: Path, folder: str, name: str) -> Path:
    """The file of sources or references of that name, wherever the package keeps it."""
    found = _below(root, folder, name)
    if found is None:
        raise UserError(f"{root} has no {folder}/{name}, which its judgements need.")
    return found


def _output(root: Path, test_set: str, pair: str, system: str) -> Path:
    """A system's output; some packages write the language pair into the system's name."""
    for name in (f"{test_set}.{system}.{pair}", f"{test_set}.{system}"):
        found = _below(root, "system-outputs", f"{test_set}/{pair}/{name}")
        if found is not None:
            return found
    raise UserError(f"{root} has no output of {system} for {pair}: expected {test_set}.{system}.{pair}.")


@lru_cache(maxsize=4096)
def _below(root: Path, folder: str, name: str) -> Path | None:
    places = sorted(place for place in root.rglob(folder) if (place / name).is_file())
    return places[0] / name if places else None


@lru_cache(maxsize=256)
def _lines(file: Path) -> list[str]:
    return text_lines(file, [])


def _line(file: Path, segment: int) -> str:
    found = _lines(file)
    if not 1 <= segment <= len(found):
        raise UserError(f"{file} has {len(found)} lines; the judgements name segment {segment}.")
    return found[segment - 1]
