"""Agreement of scores with human judgements, for one data set and any list of scores, one per row.

Segments are drawn, each with all its systems and preferences; a difference between two scorers is tested by exchanging
their scores of whole segments (PERM-INPUT; Deutsch et al. 2021 §5.2).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from babelquake.runs.measures import Measure
from babelquake.runs.run import Run
from babelquake.scorers.base import Array
from babelquake.stats.agreement import By, agreement, concordance, darr_rows, is_yes_or_no
from babelquake.stats.agreement_bootstrap import agreement_rows, bootstrap_agreement, grouping, has_rows
from babelquake.stats.bootstrap import Resampled, of_table
from babelquake.stats.resampling import Keys, Places, over_units
from babelquake.stats.testing import Test
from babelquake.studies import kinds
from babelquake.studies.card import Session
from babelquake.studies.cells import Cell, Place, difference_of, grouped, mean_of, measured
from babelquake.studies.segment_units import unit_keys

AGREEMENTS = kinds.agreement.by_name
AVERAGE = "average"
PREFERENCES = "preferences"
"""The table with the row numbers of the better and the worse translation of every preference."""


@dataclass(frozen=True)
class How:
    """How agreement is measured."""

    resamples: int
    seed: int
    threshold: float = 25.0
    """Scores of people that differ by less are no preference."""
    by: By | None = None
    """Whether scores are grouped by item or by system before correlating, to average over the groups; each statistic
    has its own default."""


@dataclass(frozen=True)
class Judgements:
    """What people said of one language pair's translations."""

    language_pair: str | None
    rows: Places
    """Its row numbers in the whole table."""
    human: Array
    """Systems × items, NaN where not judged."""
    places: tuple[Places, Places]
    """System and item of every row."""
    items: Keys
    """The sentence of every item."""
    preferences: tuple[Places, Places] | None
    """Places, in `rows`, of the better and the worse translation of every preference."""
    units: Keys
    """All sentences, ascending."""
    sentences: Keys
    """The sentence of every row."""

    def table(self, values: Array) -> Array:
        """Scores of the rows as systems × items."""
        found = np.full(self.human.shape, np.nan)
        found[self.places] = values
        return found

    @property
    def judged(self) -> bool:
        """Whether there are scores by people, not preferences only."""
        return bool((~np.isnan(self.human)).any())


def judged_in(run: Run) -> list[Judgements]:
    """The judgements that a finished run holds: scores with its segments, preferences in their own table."""
    return judgements(run.segments, run.table(PREFERENCES) if run.has(PREFERENCES) else None)


def keep_preferences(session: Session) -> None:
    """Store which translation was preferred to which, where the data say so: comparisons between runs need it."""
    if (preferences := session.data.preferences) is not None:
        session.once(PREFERENCES, lambda: preferences)


def judgements(segments: pl.DataFrame, preferences: pl.DataFrame | None) -> list[Judgements]:
    """The judgements of each language pair."""
    numbered = segments if "row" in segments.columns else segments.with_row_index("row")
    found = []
    for (pair,), part in numbered.group_by("language_pair", maintain_order=True):
        rows = part["row"].to_numpy()
        systems = part["system"].fill_null("")
        names = {name: place for place, name in enumerate(systems.unique(maintain_order=True))}
        ids = {name: place for place, name in enumerate(part["id"].unique(maintain_order=True))}
        system = np.array([names[name] for name in systems])
        item = np.array([ids[name] for name in part["id"]])
        human = np.full((len(names), len(ids)), np.nan)
        human[system, item] = part["score"].cast(pl.Float64).to_numpy()
        sentences = unit_keys(part)
        items = np.zeros(len(ids), dtype=np.uint64)
        items[item[::-1]] = sentences[::-1]
        both = None
        if preferences is not None:
            kept = preferences.filter(pl.col("better").is_in(part["row"].implode()))
            order = np.argsort(rows)
            better, worse = (order[np.searchsorted(rows[order], kept[side].to_numpy())] for side in ("better", "worse"))
            both = (better, worse) if kept.height else None
        found.append(Judgements(pair, rows, human, (system, item), items, both, np.unique(sentences), sentences))
    return found


def agreement_cell(place: Place, given: Judgements, values: Array, statistics: Sequence[str], how: How) -> Cell:
    """Each statistic that the data allow, with its bootstrap; `values` has one score per row, higher is better.

    DARR needs preferences; comparisons within a segment need several systems.
    """
    cell = Cell(place, given.units, 0)
    metric = given.table(values)
    tables: dict[str, tuple[Callable[[Array], Array], Array]] = {}
    for name in statistics:
        if not _allowed(name, given, how.by):
            continue
        if name == "darr" or has_rows(name, how.by):
            tables[name] = _rows(name, given, values, how)
        else:
            cell.numbers[name] = bootstrap_agreement(
                name,
                given.human,
                metric,
                how.by,
                resamples=how.resamples,
                seed=how.seed,
                threshold=how.threshold,
                keys=given.items,
            )
    if tables:
        formulas = {name: of_table(number, tables[name][0]) for number, name in enumerate(tables)}
        cell.compute(formulas, [rows for _, rows in tables.values()], how.resamples, how.seed)
    judged = int((~np.isnan(given.human + metric)).sum())
    for name in list(cell.numbers):
        cell.sizes[name] = len(given.preferences[0]) if name == "darr" and given.preferences else judged
        if not np.isfinite(cell.numbers[name].value):
            del cell.numbers[name]
    return cell


def agreement_value(name: str, given: Judgements, how: How, values: Array) -> float:
    """One statistic of one list of scores, without its bootstrap."""
    if name == "darr" or has_rows(name, how.by):
        function, rows = _rows(name, given, values, how)
        return float(function(rows.sum(axis=0)))
    options = {"threshold": how.threshold} if name == "kendall_like" else {}
    return float(agreement(name)(given.human, given.table(values), grouping(name, how.by), **options))


def difference(name: str, given: Judgements, one: Array, other: Array, how: How) -> tuple[Resampled, Test]:
    """One scorer's agreement minus another's over what both have scored, and its test."""
    known = ~np.isnan(one + other)
    sides = []
    for values in (one, other):
        function, rows = _rows(name, given, np.where(known, values, np.nan), how)
        sides.append(rows)
    return difference_of(function, sides, given.units, how.resamples, how.seed, few=float("inf"))


def agreement_measures(cells: Sequence[Cell]) -> list[Measure]:
    """Measures of every language pair, and their average where there are several."""
    measures = [
        measured(AGREEMENTS[name], drawn, cell.sizes[name], **cell.place.columns)
        for cell in cells
        for name, drawn in cell.numbers.items()
    ]
    for several in grouped(cells, lambda cell: cell.place.question[1:]).values():
        if len(several) > 1:
            place = {**several[0].place.columns, "language_pair": AVERAGE}
            for name in several[0].numbers:
                if all(name in cell.numbers for cell in several):
                    drawn = mean_of([cell.numbers[name] for cell in several])
                    total = sum(cell.sizes[name] for cell in several)
                    measures.append(measured(AGREEMENTS[name], drawn, total, **place))
    return measures


def _allowed(name: str, given: Judgements, by: By | None) -> bool:
    if name == "darr":
        return given.preferences is not None
    if name == "auc" and not is_yes_or_no(given.human[~np.isnan(given.human)]):
        return False
    within_items = grouping(name, by) == "item"
    return given.judged and not (within_items and len(given.human) < 2)


def _rows(name: str, given: Judgements, values: Array, how: How) -> tuple[Callable[[Array], Array], Array]:
    """A statistic as a function of sums, and what to sum, one row per sentence of the language pair."""
    if name == "darr" and given.preferences is not None:
        better, worse = given.preferences
        rows = darr_rows(values[better], values[worse])
        return concordance, over_units(given.sentences[better], rows, given.units)
    function, rows = agreement_rows(name, given.human, given.table(values), how.by, how.threshold)
    return function, over_units(given.items, rows, given.units)
