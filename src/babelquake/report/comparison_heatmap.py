"""Two runs in one heat map: old, new and the difference of every cell, the harm of each as a shade."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING

from babelquake.report.page import page_of
from babelquake.report.phrases import labelled
from babelquake.report.results import results_of, scorer_text, short_names
from babelquake.report.table import number
from babelquake.runs.results import Results, Row, distinct, values
from babelquake.runs.run import Run, run_names
from babelquake.studies.card import STUDIES

if TYPE_CHECKING:
    from babelquake.studies.comparison import Change

Place = tuple[str, float | None, str | None]
"""A perturbation, its level, and the group of segments."""


@dataclass(frozen=True)
class Tile:
    """One number: as text, with its shade from 0 to 1, and whether it is better, worse or neither."""

    text: str
    share: float = 0.0
    tone: str = "plain"


@dataclass(frozen=True)
class HeatMap:
    """A measure of both runs: three tiles – old, new, difference – for every perturbation and subject."""

    title: str
    subjects: tuple[str, ...]
    """Systems or scorers; where the two runs name theirs differently, both names."""
    names: tuple[str, str]
    """What the runs are called."""
    rows: tuple[tuple[str, tuple[tuple[Tile, Tile, Tile], ...]], ...]


def versus_heat(old: Run, new: Run, changes: "Sequence[Change]") -> list[HeatMap]:
    """One map per measure, language pair and – where systems are under test – scorer."""
    study = STUDIES.get(new.info.study)
    kinds = {kind.name: kind for kind in study.measures}
    fallen = {
        (
            change.language_pair,
            change.system,
            change.scorer,
            change.perturbation,
            change.level,
            change.group,
            change.measure,
        )
        for change in changes
        if change.regression
    }
    results = results_of(old), results_of(new)
    short = short_names(row["system"] for row in new.measures.to_dicts() if row["system"] is not None)
    marked = {(pair, short.get(system or "", system), *rest) for pair, system, *rest in fallen}
    before, after = run_names([old, new])
    found = []
    for measure in page_of(new).compared or study.gated:
        rows = [row for row in results[1].known(measure) if row["perturbation"] is not None]
        by = ("language_pair", "scorer") if study.subject == "system" else ("language_pair",)
        for key in distinct(rows, *by):
            here = dict(zip(by, key, strict=True))
            part = [row for row in rows if all(row[name] == value for name, value in here.items())]
            cells = list(_cells(part, results[0], study.subject))
            if cells:
                said = " · ".join(filter(None, [here["language_pair"], scorer_text(here.get("scorer") or "")]))
                called = kinds[measure].column if measure in kinds else study.label(measure)
                title = f"{called}{f' ({said})' if said else ''}"
                better = kinds[measure].better if measure in kinds else None
                found.append(_map(title, cells, (before, after), better, marked, measure))
    return found


@dataclass(frozen=True)
class _Cell:
    place: Place
    subject: str
    old: float
    row: Row

    @property
    def new(self) -> float:
        return float(self.row["value"])


def _cells(rows: Sequence[Row], old: Results, subject: str) -> Iterator[_Cell]:
    """Cells that both runs have: subjects of one name, or the only ones."""
    mine = values(rows, subject)
    theirs = [name for name in values(old.known(rows[0]["measure"]), subject) if name is not None] if rows else []
    renamed: Mapping[str, str] = {mine[0]: theirs[0]} if len(mine) == len(theirs) == 1 else {}
    for row in rows:
        other = renamed.get(row[subject], row[subject])
        before = old.beside({**row, subject: other}, row["measure"])
        if before is not None and before["value"] is not None:
            label = row[subject] if other == row[subject] else f"{other} → {row[subject]}"
            yield _Cell((row["perturbation"], row["level"], row["group"]), label, float(before["value"]), row)


def _map(
    title: str,
    cells: Sequence[_Cell],
    names: tuple[str, str],
    better: str | None,
    fallen: AbstractSet[tuple[object, ...]],
    measure: str,
) -> HeatMap:
    known = [value for cell in cells for value in (cell.old, cell.new)]
    low, high = min(known), max(known)
    widest = max(abs(cell.new - cell.old) for cell in cells) or 1.0
    digits = 1 if high - low > 2 or high > 2 else 3
    subjects = tuple(dict.fromkeys(cell.subject for cell in cells))
    table = {(cell.place, cell.subject): cell for cell in cells}

    def value(number_: float) -> Tile:
        share = (number_ - low) / (high - low or 1.0)
        return Tile(number(number_, digits), share if better == "down" else 1 - share if better == "up" else 0.0)

    def tiles(cell: _Cell | None) -> tuple[Tile, Tile, Tile]:
        if cell is None:
            return Tile("–"), Tile("–"), Tile("–")
        gain = cell.new - cell.old
        row = cell.row
        key = (row["language_pair"], row["system"], row["scorer"], *cell.place, measure)
        good = gain if better == "up" else -gain
        tone = "plain" if better is None or not gain else "better" if good > 0 else "worse"
        text = number(gain, digits, sign=True) or number(0.0, digits)
        return value(cell.old), value(cell.new), Tile(text + ("*" if key in fallen else ""), abs(gain) / widest, tone)

    places = dict.fromkeys(cell.place for cell in cells)
    named = labelled(place[0] for place in places)
    rows = tuple(
        (
            " ".join(filter(None, [named(*place[:2]), place[2]])),
            tuple(tiles(table.get((place, subject))) for subject in subjects),
        )
        for place in places
    )
    return HeatMap(title, subjects, names, rows)
