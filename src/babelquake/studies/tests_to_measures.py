"""From resamples and tests to measures."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from babelquake.runs.measures import ALPHA, Kind, Measure
from babelquake.scorers.base import Array
from babelquake.stats.bootstrap import Resampled
from babelquake.stats.families import corrected
from babelquake.stats.intervals import LEAST, bca_interval, mean_interval, wilson
from babelquake.stats.resampling import least_draws
from babelquake.stats.testing import Test
from babelquake.studies.cells import Cell, paired_test

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


def undefined(kind: Kind, n: int, note: str, **place: Any) -> Measure:
    """A measure that means nothing here, and why."""
    return Measure(kind, None, n, note=note, **place)


class Families:
    """Tests gathered by family – language pair, scorer, kind of question – and corrected within each."""

    def __init__(self) -> None:
        self._tested: dict[Family, list[tuple[Measure, Test]]] = {}

    def add(self, family: Family, measure: Measure, test: Test) -> None:
        """One more test of a family."""
        measure.family = family
        self._tested.setdefault(family, []).append((measure, test))

    def compare(
        self, family: Family, kind: Kind, cells: tuple[Cell, Cell], name: str, arranged: Any = None, **place: Any
    ) -> Measure:
        """The difference of a number of two cells on the same segments, tested in pairs."""
        one, other = cells
        found = measured(kind, one.numbers[name] - other.numbers[name], one.sizes.get(name, one.n), **place)
        self.add(family, found, paired_test(one, other, name, arranged=arranged))
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
