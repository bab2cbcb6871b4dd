"""Which system is sturdier, all in all? One figure per system, scorer and suite.

Overall ROBUST (CONSIS) is the mean over the suite's perturbations and levels, overall Δ the mean change, the overall
rank the mean of the ranks under each. All cells share their resamples, so the figures have intervals, and systems are
compared in pairs. Cells at level 0, where nothing is perturbed, stay out.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from babelquake.runs.measures import Kind, Measure
from babelquake.scorers.base import Array
from babelquake.stats.bootstrap import Resampled
from babelquake.stats.pvalues import Alternative
from babelquake.stats.testing import Test, difference_test
from babelquake.stats.units import aligned
from babelquake.studies.cells import Cell, Tested, differing, grouped
from babelquake.studies.mt import kinds
from babelquake.studies.mt.robustness import RANKED_BY, perturbed, ranked_by
from babelquake.studies.tests_to_measures import Families, mean_of, measured, undefined

OVERALL: dict[str, Kind] = {
    "robust": kinds.OVERALL_ROBUST,
    "delta": kinds.OVERALL_DELTA,
    "consis": kinds.OVERALL_CONSIS,
}
BySystem = Mapping[str, Sequence[Cell]]


def overall(found: Sequence[Cell]) -> list[Measure]:
    """Overall figures of every system and scorer, and the differences between systems."""
    measures: list[Measure] = []
    views = grouped(perturbed(found), lambda cell: (cell.place.language_pair, cell.place.scorer))
    for (pair, scorer), group in views.items():
        shared = _shared(grouped(group, lambda cell: cell.place.system or ""))
        for system, cells in shared.items():
            measures += _figures(cells, {"language_pair": pair, "scorer": scorer, "system": system})
        measures += _ranks(shared, pair, scorer)
        measures += _differences(shared, pair, scorer)
    return measures


def _shared(systems: Mapping[str, list[Cell]]) -> BySystem:
    """The perturbations that all systems were tried under, in the same order for each."""
    common = set.intersection(*({cell.place.question for cell in cells} for cells in systems.values()))
    return {system: [cell for cell in cells if cell.place.question in common] for system, cells in systems.items()}


def _figures(cells: Sequence[Cell], place: dict[str, str | None]) -> list[Measure]:
    """A system's means over its cells; where one of them is undefined, so is the mean."""
    measures = []
    n = len(units(cells))
    for name, kind in OVERALL.items():
        having = [cell.numbers[name] for cell in cells if name in cell.numbers]
        if having and len(having) == len(cells):
            measures.append(measured(kind, mean_of(having), n, **place))
        elif having or any(name in cell.notes for cell in cells):
            note = next((cell.notes[name] for cell in cells if name in cell.notes), "")
            measures.append(undefined(kind, n, note, **place))
    return measures


def _ranks(systems: BySystem, pair: str | None, scorer: str) -> list[Measure]:
    """The mean of a system's ranks, on the data and in every resample."""
    if len(systems) < 2:
        return []
    observed: list[Array] = []
    drawn: list[Array] = []
    names = set()
    for cells in zip(*systems.values(), strict=True):
        if (name := ranked_by(cells)) is not None:
            names.add(name)
            observed.append(_places(np.array([[cell.numbers[name].value] for cell in cells]))[:, 0])
            drawn.append(_places(np.stack([cell.numbers[name].values for cell in cells])))
    if not observed:
        return []
    values, resampled = np.mean(observed, axis=0), np.mean(drawn, axis=0)
    n = len(units([cell for cells in systems.values() for cell in cells]))
    note = f"Ranked by {' and '.join(RANKED_BY[name] for name in sorted(names, reverse=True))}."
    return [
        measured(
            kinds.OVERALL_RANK,
            Resampled(float(value), some),
            n,
            language_pair=pair,
            scorer=scorer,
            system=system,
            note=note,
        )
        for system, value, some in zip(systems, values, resampled, strict=True)
    ]


def _places(values: Array) -> Array:
    """Ranks down the first axis, 1 the largest; equal ones share a rank."""
    return np.asarray(1.0 + (values[None, :, :] > values[:, None, :]).sum(axis=1))


def _differences(systems: BySystem, pair: str | None, scorer: str) -> list[Measure]:
    """Every two systems: the difference of their overall figures, tested; Δ where ROBUST is undefined."""
    families = Families()
    for one, other in combinations(systems, 2):
        cells, rivals = systems[one], systems[other]
        for name in shared_names(cells, rivals):
            drawn = overall_difference(cells, rivals, name)
            place = {"language_pair": pair, "scorer": scorer, "system": one, "other": other}
            measure = measured(OVERALL[name].difference(), drawn, len(units([*cells, *rivals])), **place)
            test = overall_test(cells, rivals, name)
            families.add((pair, scorer, f"overall {RANKED_BY[name]} of two systems"), measure, test)
    return families.judge()


def shared_names(cells: Sequence[Cell], rivals: Sequence[Cell]) -> list[str]:
    """The overall figures that both sides have; Δ stands in where ROBUST is undefined."""
    every = [*cells, *rivals]
    found = [name for name in OVERALL if every and all(name in cell.numbers for cell in every)]
    return [name for name in found if name != "delta" or "robust" not in found]


def overall_difference(cells: Sequence[Cell], rivals: Sequence[Cell], name: str) -> Resampled:
    """The difference of two means over cells."""
    one, other = (mean_of([cell.numbers[name] for cell in side]) for side in (cells, rivals))
    return one - other


def overall_test(
    cells: Sequence[Cell], rivals: Sequence[Cell], name: str, alternative: Alternative = "two-sided", seed: int = 0
) -> Test:
    """Is the mean over cells different between two systems, or two runs? Both sides have their cells in one order."""
    everywhere = units([*cells, *rivals])
    changed = np.zeros(len(everywhere), dtype=np.bool_)
    for one, other in zip(cells, rivals, strict=True):
        if np.array_equal(one.keys, other.keys):
            changed |= aligned(one.keys, everywhere, differing(one, other)).astype(np.bool_)
        else:
            changed[:] = True

    def contributions() -> Array | None:
        if not all(name in cell.contributions for cell in (*cells, *rivals)):
            return None
        sides = (
            np.mean([aligned(cell.keys, everywhere, cell.contributions[name]) for cell in side], axis=0)
            for side in (cells, rivals)
        )
        return np.asarray(np.subtract(*sides))

    return difference_test(
        overall_difference(cells, rivals, name),
        contributions,
        changed=changed,
        keys=everywhere,
        seed=seed,
        alternative=alternative,
    )


def overall_in_two_runs(pairs: Sequence[tuple[Cell, Cell]], seed: int) -> Iterator[Tested]:
    """The overall figures of every system in an old and a new run, over the perturbations that both have."""
    known = [pair for pair in pairs if pair[1].place.level != 0]
    for place, group in grouped(known, lambda pair: pair[1].place.of_system).items():
        befores, afters = [one for one, _ in group], [other for _, other in group]
        for name in shared_names(afters, befores):
            old, new = (float(np.mean([cell.numbers[name].value for cell in side])) for side in (befores, afters))
            yield Tested(place, OVERALL[name].name, old, new, overall_test(afters, befores, name, "less", seed), True)


def units(cells: Sequence[Cell]) -> "np.ndarray[tuple[int], np.dtype[np.uint64]]":
    """The segments of some cells together."""
    distinct = {id(cell.keys): cell.keys for cell in cells}
    return np.unique(np.concatenate(list(distinct.values())))
