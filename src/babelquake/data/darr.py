"""DARR: which of two translations people found better (WMT metrics task, from direct assessments ≥ 25 points apart).

A folder with `sources.txt`, `references.txt`, `darr.tsv[.gz]` (segment, better_system, worse_system, better, worse;
`segment` is a line of sources.txt counted from 0) and perhaps `attacked/<attack>/<level>.txt`: references somebody
else perturbed.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import polars as pl

from babelquake.data import language_names
from babelquake.data.dataset import Dataset
from babelquake.data.delimited import split_table
from babelquake.data.plain_text import same_length, text_lines
from babelquake.data.request import Request
from babelquake.data.streams import existing
from babelquake.data.table import Table, Values, to_dataset
from babelquake.errors import UserError

JUDGEMENTS = ("darr.tsv", "darr.tsv.gz", "darr.tsv.xz")
COLUMNS = ("segment", "better_system", "worse_system", "better", "worse")


def is_darr(what: str) -> bool:
    """Whether a folder holds sources and judgements."""
    folder = Path(what)
    return (folder / "sources.txt").is_file() and any((folder / name).is_file() for name in JUDGEMENTS)


def read_darr(request: Request) -> Dataset:
    """One row per translation somebody judged; `preferences` holds the judgements."""
    folder = existing(request.path)
    notes: list[str] = []
    sources, references = aligned(folder / "sources.txt", folder / "references.txt", notes)
    file = next((folder / name for name in JUDGEMENTS if (folder / name).is_file()), folder / JUDGEMENTS[0])
    judged = split_table(file, COLUMNS)
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
    dataset = to_dataset(table, None, request.language_pair, language_names.detect(folder.resolve()))
    preferences = pl.DataFrame(sides, schema={"better": pl.Int64, "worse": pl.Int64})
    return Dataset(
        name,
        dataset.segments,
        preferences,
        attacked_files(folder / "attacked", "*.txt", lines, len(sources)),
        dataset.notes,
    )


def aligned(first: Path, second: Path, notes: list[str]) -> tuple[list[str], list[str]]:
    """Two files that must have equally many lines."""
    left, right = text_lines(first, notes), text_lines(second, notes)
    same_length(first, left, second, right)
    return left, right


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
