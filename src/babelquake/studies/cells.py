"""A cell: one place in a study's table – a system, a scorer, a perturbation – with everything tests need to know of it.

Readers of two cells on the same segments, in one run or in two, compare them by `paired_test`; below, measures are made
of resampled numbers and of tests, family by family.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from babelquake.perturb.labels import REPEAT
from babelquake.runs.measures import ALPHA, Kind, Measure
from babelquake.runs.tables import Part
from babelquake.scorers.base import Array, Scorer
from babelquake.stats.bootstrap import Function, Resampled, bootstrap, resampled_sums, weighted_sums
from babelquake.stats.families import corrected
from babelquake.stats.intervals import LEAST, bca_interval, mean_interval, wilson
from babelquake.stats.pvalues import Alternative
from babelquake.stats.resampling import Draws, Keys, Places, by_unit, combined, least_draws, marks_of, short
from babelquake.stats.testing import FEW, Test, bootstrap_test, difference_test, exchange_test, pseudo_values
from babelquake.studies import kinds
from babelquake.studies.segment_units import Slices, keys_by_row

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
Table = Array | Callable[[], Array]
"""One row per segment; large ones are made when asked for, so that one is in memory at a time."""
MOST_CONTRIBUTIONS = 20_000
"""Segments up to which each one's contribution to a number is kept, for tests on few differing segments."""
MOST_EXCHANGED = 500
"""Segments up to which a cell's tables are kept, so that two runs can exchange their rows."""
LEAST_CHANGED = 20
"""Cells with fewer changed segments have no part in overall figures, and say nothing by having become undefined."""
FEW_CHANGED = 0.5
"""Below this share of changed texts a note says so."""


@dataclass(frozen=True)
class Place:
    """What a cell is of; what does not apply is None."""

    language_pair: str | None
    scorer: str
    perturbation: str | None = None
    level: float | None = None
    system: str | None = None
    group: str | None = None
    only_changed: bool = False
    """Whether it is about those texts alone that the perturbation really changed."""

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of measures that name it."""
        return {name: value for name, value in vars(self).items() if name != "only_changed"}

    @property
    def question(self) -> tuple[object, ...]:
        """Everything but the system: cells with one question are compared."""
        return (self.language_pair, self.scorer, self.perturbation, self.level, self.group, self.only_changed)

    @property
    def perturbed(self) -> bool:
        """Whether it is of perturbed texts in all of the data: not at level 0, asked again or of a part of them."""
        return self.perturbation not in (None, REPEAT) and self.level != 0 and self.group is None

    @property
    def of_system(self) -> "Place":
        """The place of what is said of the system overall."""
        return Place(self.language_pair, self.scorer, system=self.system)

    def kind(self, kind: Kind) -> Kind:
        """What a number of this place is called."""
        return kinds.over_changed(kind) if self.only_changed else kind

    def asked(self, question: str) -> tuple[str | None, ...]:
        """The family of its tests of a question."""
        told = (", changed texts only" if self.only_changed else "") + (", by part" if self.group is not None else "")
        return (self.language_pair, self.scorer, question + told)


@dataclass
class Cell:
    """The numbers of a place."""

    place: Place
    keys: Keys
    """Its segments, ascending; cells on the same segments share one array (`Shared`)."""
    n: int
    changed: int | None = None
    """How many of its segments the perturbation really changed."""
    sizes: dict[str, int] = field(default_factory=dict)
    """How many judgements are behind a number, where that differs from number to number."""
    differing: int | None = None
    """In how many of its segments clean and perturbed statistics differ: what Δ and ROBUST are made of."""
    numbers: dict[str, Resampled] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    """Why a number is undefined."""
    contributions: dict[str, Array] = field(default_factory=dict)
    """What each segment contributes to a number; empty where there are too many segments."""
    marks: NDArray[np.uint32] | None = None
    """A hash of each segment's statistics: two cells differ in a segment where these do."""
    sides: list[NDArray[np.uint64]] = field(default_factory=list)
    """The same of each of its tables, until its tests are made."""
    tests: dict[str, Test] = field(default_factory=dict)
    formulas: Mapping[str, Function] = field(default_factory=dict)
    """How its numbers follow from the sums of its tables."""
    tables: list[Array] = field(default_factory=list)
    """A row per segment; empty where there are too many segments to keep them."""

    @property
    def large_enough(self) -> bool:
        """Whether enough segments were changed (or are there, where nothing is perturbed) to rely on its numbers."""
        return (len(self.keys) if self.changed is None else self.changed) >= LEAST_CHANGED

    @property
    def few_changed(self) -> str | None:
        """A note where the perturbation changed few of the texts it was tried on."""
        if self.changed is None or self.place.only_changed or self.changed >= FEW_CHANGED * self.n:
            return None
        return f"Only {self.changed} of {self.n} texts were changed."

    def compute(self, formulas: Mapping[str, Function], tables: Sequence[Table], resamples: int, seed: int) -> None:
        """Numbers that are functions of sums of tables, all from the same resamples."""
        few = 1 < len(self.keys) <= MOST_CONTRIBUTIONS
        kept = 1 < len(self.keys) <= MOST_EXCHANGED
        self.formulas = formulas
        totals, drawn, left = [], [], []
        for table in tables:
            rows = table() if callable(table) else table
            totals.append(rows.sum(axis=0))
            drawn.append(resampled_sums(rows, resamples, seed, self.keys))
            self.sides.append(marks_of(rows))
            if few:
                left.append(totals[-1] - rows)
            if kept:
                self.tables.append(rows)
            del rows
        self.marks = short(combined(self.sides))
        n = len(self.keys)
        for name, function in formulas.items():
            with np.errstate(divide="ignore", invalid="ignore"):
                value = float(np.asarray(function(*totals)))
                self.numbers[name] = Resampled(value, np.asarray(function(*drawn), dtype=np.float64))
                if few:
                    self.contributions[name] = pseudo_values(np.asarray(value), np.asarray(function(*left)), n)


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Items by what they have in common, in order of appearance."""
    found: dict[K, list[T]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


class Shared:
    """Arrays of keys, each distinct one kept once: of a million segments one takes 8 MB."""

    def __init__(self) -> None:
        self._known: list[Keys] = []

    def __call__(self, keys: Keys) -> Keys:
        """The array that is equal to this one, or this one."""
        for known in self._known:
            if np.array_equal(known, keys):
                return known
        self._known.append(keys)
        return keys


def exchange_of(cell: Cell, function: Function, tables: Sequence[Callable[[], Array]], seed: int) -> Test:
    """The test of Δ, a function of a cell's second table less that of its first: their rows could be exchanged."""
    delta, (before, after) = cell.numbers["delta"], cell.sides[:2]
    changed = cell.differing = int((before != after).sum())
    if not 0 < changed < FEW:
        return bootstrap_test(delta, len(cell.keys), changed)
    return exchange_test(function, [tables[1]()], [tables[0]()], delta, seed=seed, keys=cell.keys)


def difference_of(
    function: Callable[[Array], Array],
    sides: Sequence[Array],
    units: Keys,
    resamples: int,
    seed: int,
    few: float = FEW,
) -> tuple[Resampled, Test]:
    """A function of one table's sums less that of another's, and its test by exchanging the rows of whole units."""
    drawn = bootstrap(lambda one, other: function(one) - function(other), sides, resamples, seed, units)
    return drawn, exchange_test(function, sides[:1], sides[1:], drawn, seed=seed, keys=units, few=few)


def exchangeable(one: Cell, other: Cell) -> bool:
    """Whether both have kept their tables, of one scorer on the same segments."""
    shapes = [[table.shape for table in cell.tables] for cell in (one, other)]
    alike = shapes[0] == shapes[1] and one.place.scorer == other.place.scorer
    return bool(shapes[0]) and alike and np.array_equal(one.keys, other.keys)


def exchanged(one: Cell, other: Cell, seed: int = 0) -> tuple[Cell, Cell]:
    """Both cells with their numbers on arrangements of the segments in place of resamples.

    In every draw each segment's rows change sides or not, the same segments in all tables of all cells.
    """
    names = one.numbers.keys() & other.numbers.keys() & one.formulas.keys()
    draws = max((one.numbers[name].values.size for name in names), default=0)
    sides: tuple[list[Array], list[Array]] = ([], [])
    for rows, others in zip(one.tables, other.tables, strict=True) if draws else ():
        moved = weighted_sums(others - rows, Draws(one.keys, "swap", seed), draws)
        sides[0].append(rows.sum(axis=0) + moved)
        sides[1].append(others.sum(axis=0) - moved)

    def arranged(cell: Cell, sums: list[Array]) -> Cell:
        with np.errstate(divide="ignore", invalid="ignore"):
            numbers = {
                name: Resampled(cell.numbers[name].value, np.asarray(cell.formulas[name](*sums), dtype=np.float64))
                for name in cell.numbers
                if name in names
            }
        return replace(cell, numbers=numbers, contributions={}, marks=None, tables=[])

    return arranged(one, sides[0]), arranged(other, sides[1])


def gains(
    pairs: Sequence[tuple[Cell, Cell]],
    overall: Callable[[Sequence[tuple[Cell, Cell]]], Iterable[tuple[Cell, Cell]]],
    seed: int = 0,
) -> dict[tuple[Place, str], Array]:
    """What the second cell of each pair gains on the first where whole rows change sides, by its place and number.

    `overall` makes of pairs those of their overall cells, which have no rows themselves. There are no gains of a system
    one of whose cells cannot be exchanged: its overall figures need all of them.
    """
    groups = grouped(pairs, lambda pair: pair[1].place.of_system).values()
    small = [pair for group in groups if all(exchangeable(*pair) for pair in group) for pair in group]
    moved = [exchanged(*pair, seed) for pair in small]
    return {
        (after.place, name): number.values - before.numbers[name].values
        for before, after in (*moved, *overall(moved))
        for name, number in after.numbers.items()
        if name in before.numbers
    }


def paired_test(
    one: Cell,
    other: Cell,
    name: str,
    alternative: Alternative = "two-sided",
    seed: int = 0,
    few: int = FEW,
    arranged: Array | None = None,
    alike: bool = False,
) -> Test:
    """Is a number of one cell different from the other's? Both are on the same segments.

    Below `few` segments that differ, arrangements decide instead of resamples: what each segment contributes changes
    its sign, and whole rows change sides where both cells have kept theirs or `arranged` has the differences. The
    former finds too much of numbers that are far from a sum, the latter of ratios of systems of other quality, so the
    larger p holds; but for systems that are `alike` where there is nothing to find, of whose rows any may change sides.
    """
    changed = differing(one, other)
    if arranged is None and changed.sum() < few and exchangeable(one, other):
        mine, theirs = (cell.numbers.get(name) for cell in exchanged(one, other, seed))
        arranged = None if mine is None or theirs is None else mine.values - theirs.values

    def contributions() -> Array | None:
        if name not in one.contributions or name not in other.contributions:
            return None
        return one.contributions[name] - other.contributions[name]

    def decided(by: Array | None) -> Test:
        return difference_test(
            one.numbers[name] - other.numbers[name],
            contributions,
            changed=changed,
            keys=one.keys,
            seed=seed,
            alternative=alternative,
            few=few,
            arranged=by,
        )

    if arranged is None or alike:
        return decided(arranged)
    return max(decided(None), decided(arranged), key=lambda test: test.p)


def differing(one: Cell, other: Cell) -> NDArray[np.bool_]:
    """The segments in which two cells' statistics differ."""
    if one.marks is None or other.marks is None:
        return np.ones(len(one.keys), dtype=np.bool_)
    return np.asarray(one.marks != other.marks)


@dataclass(frozen=True)
class Scored:
    """What scorers say of clean and perturbed texts of segments, and how numbers made of it are drawn."""

    sums: pl.LazyFrame
    """A row per segment, perturbation and scorer: replicates are taken together."""
    segments: pl.DataFrame
    scorers: Sequence[Scorer]
    resamples: int
    seed: int

    @cached_property
    def keys(self) -> Keys:
        """What is resampled, of every row number."""
        return keys_by_row(self.segments)

    def by(self, scorer: Scorer) -> pl.LazyFrame:
        """The rows of one scorer."""
        return self.sums.filter(pl.col("scorer") == scorer.name)


Chosen = NDArray[np.bool_] | None
"""Which of the perturbed texts are meant; None for all."""


class Sides:
    """Perturbed texts of one place and the clean ones they came from, in one table with columns row, statistics."""

    def __init__(self, table: pl.LazyFrame, noisy: pl.Expr, clean: pl.Expr, index: Sequence[str], keys: Keys) -> None:
        self.noisy, self.clean = Part(table, noisy, index), Part(table, clean, ["row"])
        self.rows = self.noisy.index["row"].to_numpy()
        self.keys = keys[self.rows]

    def perturbed(self, column: str, chosen: Chosen = None) -> Array:
        """A column of statistics of the perturbed texts."""
        return self.by_segment(self.noisy.statistics(column), chosen)

    def baseline(self, times: Places | None = None, chosen: Chosen = None) -> Array:
        """Statistics of the clean texts, each as often as it was perturbed, or as `times` says."""
        statistics = self.of_clean()
        if times is not None:
            statistics *= times[:, None]
        return self.by_segment(statistics, chosen)

    def of_clean(self) -> Array:
        """For each perturbed text the statistics of the clean one it came from."""
        rows = self.clean.index["row"].to_numpy()
        order = np.argsort(rows)
        at = order[np.searchsorted(rows[order], self.rows)]
        return self.clean.statistics("statistics")[at]

    def by_segment(self, statistics: Array, chosen: Chosen) -> Array:
        """Statistics of texts summed by segment, of all texts or of those chosen."""
        if chosen is None:
            return by_unit(self.keys, statistics)[1]
        return by_unit(self.keys[chosen], statistics[chosen])[1]


def parts_of(rows: Places, changed: NDArray[np.bool_], slices: Slices) -> Iterator[tuple[dict[str, Any], Chosen]]:
    """What cells of one place there are, each with what names it: of all texts, of the changed ones where those are
    not all, and of every slice."""
    yield {}, None
    if 0 < changed.sum() < len(changed):
        yield {"only_changed": True}, changed
    for name, some in slices.items():
        if (inside := np.isin(rows, some)).any():
            yield {"group": name}, inside


Family = tuple[str | None, ...]


def measured(kind: Kind, drawn: Resampled, n: int, **place: Any) -> Measure:
    """A measure with its standard deviation and 95 % interval; `place` is what it is of."""
    found = drawn.estimate()
    return Measure(kind, found.value, n, sd=found.sd, low=found.low, high=found.high, **place)


def share(kind: Kind, count: float, n: int, **more: Any) -> Measure:
    """`count` of `n` in per cent, with Wilson's interval."""
    low, high = wilson(count, n)
    return Measure(kind, 100 * count / n, n, low=100 * low, high=100 * high, **more)


def average(kind: Kind, each: Array, **more: Any) -> Measure:
    """The mean over segments, with its interval."""
    low, high = mean_interval(each)
    return Measure(kind, float(each.mean()), len(each), low=low, high=high, **more)


def measured_loss(kind: Kind, cell: Cell, name: str, note: str | None = None, **place: Any) -> Measure:
    """A cell's Δ or ROBUST, overall or not, with an interval fit for few large losses among many zeros.

    On fewer segments than such an interval needs there is none, and the note says so.
    """
    found = measured(kind, cell.numbers[name], cell.sizes.get(name, cell.n), note=note, **place)
    parts = cell.contributions.get(name)
    segments = cell.n if parts is None else len(parts)
    if segments < LEAST:
        found.low = found.high = None
        few = f"Too few segments for an interval: {segments}, {LEAST} are needed."
        found.note = " ".join(filter(None, [note, few]))
    elif parts is not None and np.isfinite(parts).all():
        differing = segments if cell.differing is None else cell.differing
        found.low, found.high = bca_interval(cell.numbers[name], parts, differing)
    return found


class Families:
    """Tests gathered by family – language pair, scorer, kind of question – and corrected within each."""

    def __init__(self) -> None:
        self._tested: dict[Family, list[tuple[Measure, Test]]] = {}

    def add(self, family: Family, measure: Measure, test: Test) -> None:
        """One more test of a family."""
        measure.family = family
        self._tested.setdefault(family, []).append((measure, test))

    def compare(
        self,
        family: Family,
        kind: Kind,
        cells: tuple[Cell, Cell],
        name: str,
        arranged: Array | None = None,
        seed: int = 0,
        **place: Any,
    ) -> Measure:
        """The difference of a number of two cells on the same segments, tested in pairs."""
        one, other = cells
        found = measured(kind, one.numbers[name] - other.numbers[name], one.sizes.get(name, one.n), **place)
        self.add(family, found, paired_test(one, other, name, seed=seed, arranged=arranged))
        return found

    def judge(self) -> list[Measure]:
        """Correct each family and write down what its tests say; the measures tested, family by family."""
        measures = []
        for tested in self._tested.values():
            outcomes = corrected([test for _, test in tested], ALPHA)
            for (measure, _), outcome in zip(tested, outcomes, strict=True):
                measure.p, measure.p_corrected, measure.testable = outcome.p, outcome.p_corrected, outcome.testable
                if outcome.reason is not None:
                    measure.note = " ".join(filter(None, [measure.note, f"Cannot be tested: {outcome.reason}"]))
                measures.append(measure)
        return measures


def enough(resamples: int) -> int:
    """The resamples asked for, or as many as a test at α needs."""
    return max(resamples, least_draws(ALPHA))


def mean_of(found: Sequence[Resampled]) -> Resampled:
    """The mean of several numbers, resample by resample; of as many resamples as all have."""
    draws = min(drawn.values.size for drawn in found)
    values = np.mean([drawn.values[:draws] for drawn in found], axis=0)
    return Resampled(float(np.mean([drawn.value for drawn in found])), values)
