"""Which of two translations people found better: DARR as a folder, and the packages of WMT's metrics tasks.

DARR (from direct assessments ≥ 25 points apart) is a folder with `sources.txt`, `references.txt`, `darr.tsv[.gz]`
(segment, better_system, worse_system, better, worse; `segment` is a line of sources.txt counted from 0) and perhaps
`attacked/<attack>/<level>.txt`: references somebody else perturbed.

The package of a task (2016–2020) has judgements as published beside all systems' outputs.
`manual-evaluation/RR-seglevel.csv` holds better/worse judgements (`LP DATA SID BETTER WORSE`, a space between), and
`DA-seglevel.csv` direct assessments (`LP DATA SYSTEM SID SCORE`; the columns are found by name). Somewhere below the
folder lie `sources/`, `references/` and `system-outputs/TESTSET/PAIR/TESTSET.SYSTEM.PAIR`. Segments count from 1.
Several systems with one translation are written `one+other`; the first is taken.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import polars as pl

from babelquake.data.dataset import Dataset, Request, join
from babelquake.data.plain_text import same_length, text_lines
from babelquake.data.streams import existing, lines
from babelquake.data.table import Table, Values, number, to_dataset
from babelquake.data.tsv_csv_xlsx import split_table
from babelquake.errors import UserError, did_you_mean
from babelquake.languages import LanguagePair, pair_in_path

JUDGEMENTS = ("darr.tsv", "darr.tsv.gz", "darr.tsv.xz")
DARR_COLUMNS = ("segment", "better_system", "worse_system", "better", "worse")


def is_darr(what: str) -> bool:
    """Whether a folder holds sources and judgements."""
    folder = Path(what)
    return (folder / "sources.txt").is_file() and any((folder / name).is_file() for name in JUDGEMENTS)


def read_darr(request: Request) -> Dataset:
    """One row per translation somebody judged; `preferences` holds the judgements."""
    folder = existing(request.path)
    notes: list[str] = []
    sources, references = (text_lines(folder / name, notes) for name in ("sources.txt", "references.txt"))
    same_length(folder / "sources.txt", sources, folder / "references.txt", references)
    file = next((folder / name for name in JUDGEMENTS if (folder / name).is_file()), folder / JUDGEMENTS[0])
    judged = split_table(file, DARR_COLUMNS)
    segments = [_segment(judged, row, len(sources)) for row in range(len(judged.lines))]
    rows: dict[tuple[int, str], int] = {}
    translations: list[str] = []
    doubled: set[str] = set()
    sides = {side: _rows(judged, side, segments, rows, translations, doubled) for side in ("better", "worse")}
    pair = folder.resolve().name
    name = f"{folder.resolve().parent.name}/{pair}"
    unjudged = len(sources) - len(set(segments))
    if unjudged:
        notes.append(f"{name}: {unjudged} of {len(sources)} segments have no judgement and are left out")
    if doubled:
        several = sum(system.endswith(")") and system.rpartition(" (")[0] in doubled for _, system in rows)
        names = ", ".join(sorted(doubled))
        notes.append(f"{name}: {several} segments have two translations by one system ({names}); both are kept")
    lines = [segment for segment, _ in rows]
    columns: dict[str, Values] = {
        "id": [f"{pair}:{line + 1}" for line in lines],
        "source": [sources[line] for line in lines],
        "reference": [references[line] for line in lines],
        "translation": translations,
        "system": [system for _, system in rows],
    }
    table = Table(str(folder), name, columns, [line + 1 for line in lines], notes=notes)
    dataset = to_dataset(table, None, request.language_pair, pair_in_path(folder.resolve()))
    preferences = pl.DataFrame(sides, schema={"better": pl.Int64, "worse": pl.Int64})
    attacked = attacked_files(folder / "attacked", "*.txt", lines, len(sources))
    return replace(dataset, preferences=preferences, attacked=attacked)


def attacked_files(
    folder: Path, pattern: str, lines: Sequence[int], count: int
) -> Mapping[tuple[str, float], Callable[[], Sequence[str]]]:
    """References others perturbed, `<attack>/<level>` below a folder, each read when asked for."""
    found: dict[tuple[str, float], Callable[[], Sequence[str]]] = {}
    for file in sorted(folder.glob(f"*/{pattern}")):
        attack, level = file.relative_to(folder).parts[0], file.relative_to(folder).parts[1].removesuffix(".txt")
        try:
            found[attack, float(level)] = partial(_attacked, file, lines, count)
        except ValueError:
            raise UserError(f"{file}: '{level}' is not a level. Expected a number such as 0.3.") from None
    return found


def _attacked(file: Path, lines: Sequence[int], count: int) -> Sequence[str]:
    texts = text_lines(file, [])
    if len(texts) != count:
        raise UserError(f"{file} has {len(texts)} lines where the references have {count}.")
    return [texts[line] for line in lines]


def _segment(judged: Table, row: int, count: int) -> int:
    text = judged.columns["segment"][row]
    if not text.isdecimal() or int(text) >= count:
        raise UserError(f"{judged.where(row)}: segment is '{text}'. Expected a number from 0 to {count - 1}.")
    return int(text)


def _rows(
    judged: Table,
    side: str,
    segments: Sequence[int],
    rows: dict[tuple[int, str], int],
    translations: list[str],
    doubled: set[str],
) -> list[int]:
    """The row of each translation on one side of the judgements; new ones are appended.

    A system's second translation of a segment (WMT19 gu-en has some) gets its own row, as `system (2)`.
    """
    found = []
    systems, texts = judged.columns[f"{side}_system"], judged.columns[side]
    for position, (segment, system) in enumerate(zip(segments, systems, strict=True)):
        text, time = texts[position], 1
        name = system
        while (row := rows.setdefault((segment, name), len(translations))) < len(translations):
            if translations[row] == text:
                break
            time += 1
            name = f"{system} ({time})"
            doubled.add(system)
        else:
            translations.append(text)
        found.append(row)
    return found


RANKED, ASSESSED = "RR-seglevel.csv", "DA-seglevel.csv"
TASK_COLUMNS = {RANKED: ("LP", "DATA", "SID", "BETTER", "WORSE"), ASSESSED: ("LP", "DATA", "SYSTEM", "SID", "SCORE")}
"""The columns by position, for files whose header lacks some (WMT18's)."""
SYNONYMS = {"SYS": "SYSTEM", "HUMAN": "SCORE", "DA": "SCORE", "Z": "SCORE", "RAW": "SCORE", "TESTSET": "DATA"}


class Judged(NamedTuple):
    """One line of a file of judgements."""

    where: str
    cells: dict[str, str]


def is_metrics_task(what: str) -> bool:
    """Whether a path is such a folder, or such a folder with one of its language pairs appended."""
    path = Path(what)
    return bool(_judgement_files(path)) or (not path.exists() and bool(_judgement_files(path.parent)))


def read_metrics_task(request: Request) -> Dataset:
    """One row per translation that somebody judged, for one language pair or all, and their `preferences`."""
    path = request.path
    root, wanted = (path, request.language_pair) if _judgement_files(path) else (path.parent, path.name)
    judged = {name: list(_judgements(file)) for name, file in _judgement_files(root).items()}
    known = list(dict.fromkeys(row.cells["LP"] for rows in judged.values() for row in rows))
    if wanted is not None:
        chosen = [pair for pair in known if LanguagePair.known(pair) == (LanguagePair.known(wanted) or wanted)]
        if not chosen:
            raise UserError(f"{root} has no judgements of '{wanted}'. {did_you_mean(wanted, known)}")
        known = chosen
    parts = [_pair(root, pair, judged) for pair in known]
    return parts[0] if len(parts) == 1 else join(parts, one_set=True)


def _judgement_files(folder: Path) -> dict[str, Path]:
    places = ((name, folder / within / name) for name in TASK_COLUMNS for within in ("manual-evaluation", "."))
    return {name: file for name, file in places if file.is_file()}


def _judgements(file: Path) -> Iterator[Judged]:
    """The lines of a file, their cells by name."""
    rows = lines(file)
    header = [SYNONYMS.get(name.upper(), name.upper()) for name in next(rows, "").split()]
    for count, line in enumerate(rows, start=2):
        cells = line.split()
        names = header if len(header) == len(cells) else list(TASK_COLUMNS[file.name])
        if len(cells) != len(names):
            raise UserError(f"{file} line {count}: {len(cells)} columns. Expected {' '.join(TASK_COLUMNS[file.name])}.")
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
            ("source", _side(root, "sources", f"{plain}-src.{languages.source.code}")),
            ("reference", _side(root, "references", f"{plain}-ref.{languages.target.code}")),
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
    return replace(found, preferences=preferences)


def _key(where: str, cells: dict[str, str], column: str) -> tuple[str, int, str]:
    """Test set, segment and system of a judgement."""
    missing = next((name for name in ("DATA", "SID", column) if name not in cells), None)
    if missing:
        raise UserError(f"{where}: no column {missing}.")
    if not cells["SID"].isdecimal():
        raise UserError(f"{where}: the segment is '{cells['SID']}'. Expected a number from 1.")
    return cells["DATA"], int(cells["SID"]), cells[column].split("+")[0]


def _side(root: Path, folder: str, name: str) -> Path:
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
def _all_lines(file: Path) -> list[str]:
    return text_lines(file, [])


def _line(file: Path, segment: int) -> str:
    found = _all_lines(file)
    if not 1 <= segment <= len(found):
        raise UserError(f"{file} has {len(found)} lines; the judgements name segment {segment}.")
    return found[segment - 1]
