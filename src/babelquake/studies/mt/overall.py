"""Which system is best under noise? One figure per system, scorer and measure for the whole suite.

Quality is pooled: within a perturbation (at one level) over its segments, as the scorer does, then over perturbations,
each weighing the same. Overall quality is that of the clean translations of the same segments, overall Δ and ROBUST are
the difference and the ratio of the two pooled qualities. A mean of ratios would follow the one cell whose clean
quality is near zero; in a ratio of means no cell has more than its share: of k cells one moves a quality between 0 and
100 by at most 100/k points. Cells at level 0, where nothing is perturbed, and cells with fewer than `LEAST_CHANGED`
changed segments stay out; the latter are named.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np

from babelquake.perturb.labels import label_of
from babelquake.runs.measures import Measure
from babelquake.scorers.base import Array
from babelquake.stats.bootstrap import Resampled
from babelquake.stats.resampling import Keys
from babelquake.stats.units import aligned, combined, short
from babelquake.studies.cells import LEAST_CHANGED, Cell, Place, grouped, paired_test
from babelquake.studies.mt import kinds
from babelquake.studies.mt.cells import reaches_zero
from babelquake.studies.mt.robustness import perturbed
from babelquake.studies.tests_to_measures import Families, mean_of, measured, measured_loss, undefined

OVERALL = {
    kind.name: kind
    for kind in (
        kinds.OVERALL_QUALITY,
        kinds.OVERALL_QUALITY_PERTURBED,
        kinds.OVERALL_ROBUST,
        kinds.OVERALL_CONSIS,
        kinds.OVERALL_HURT,
        kinds.OVERALL_DELTA,
    )
}
QUESTIONS = {
    "overall_quality": "overall clean quality",
    "overall_quality_perturbed": "overall quality under noise",
    "overall_robust": "overall ROBUST",
    "overall_consis": "overall CONSIS",
    "overall_hurt": "overall translations made worse",
    "overall_delta": "overall Δ",
}
RANKED_BY = {"overall_quality_perturbed": "quality under noise", "overall_consis": "CONSIS"}
"""What systems are ranked by: the first that all of them have."""


def overall(found: Sequence[Cell]) -> list[Measure]:
    """Overall figures of every system and scorer, and the differences between systems."""
    measures: list[Measure] = []
    views = grouped(perturbed(found), lambda cell: (cell.place.language_pair, cell.place.scorer))
    for group in views.values():
        systems = [overall_cell(cells) for cells in _shared(group)]
        measures += [measure for cell in systems for measure in _figures(cell)]
        measures += _ranks(systems)
        measures += _differences(systems)
    return measures


def overall_figures(found: Sequence[Cell]) -> list[Measure]:
    """Overall figures of every system and scorer, compared with no other."""
    views = grouped(perturbed(found), lambda cell: (cell.place.language_pair, cell.place.scorer, cell.place.system))
    return [measure for cells in views.values() for measure in _figures(overall_cell(cells))]


def overall_cell(cells: Sequence[Cell]) -> Cell:
    """What the cells of one system and scorer say together; of those left out, a note."""
    counted = [cell for cell in cells if cell.large_enough]
    everywhere = units(counted or cells)
    whole = Cell(cells[0].place.of_system, everywhere, len(everywhere))
    whole.differing = max((cell.differing for cell in counted if cell.differing is not None), default=None)
    if not counted:
        having = {name for cell in cells for name in (*cell.numbers, *cell.notes)}
        whole.notes |= {name: _left_out(cells) for name in OVERALL if name.removeprefix("overall_") in having}
        return whole
    for name in ("quality", "quality_perturbed", "consis", "hurt"):
        if all(name in cell.numbers for cell in counted):
            _pool(whole, counted, name)
        elif reason := next((cell.notes[name] for cell in counted if name in cell.notes), None):
            whole.notes[f"overall_{name}"] = reason
    if "overall_quality_perturbed" in whole.numbers:
        _relate(whole, "overall_delta", lambda noisy, clean: noisy - clean)
        if reason := _meaningless_ratio(whole, counted):
            whole.notes["overall_robust"] = reason
        else:
            _relate(whole, "overall_robust", lambda noisy, clean: 100 * noisy / clean)
    if all(cell.marks is not None for cell in counted):
        spread = (aligned(cell.keys, everywhere, cell.marks) for cell in counted if cell.marks is not None)
        whole.marks = short(combined(marks.astype(np.uint64) for marks in spread))
    if said := _left_out(cells):
        whole.notes |= dict.fromkeys(whole.numbers, said)
    return whole


def _left_out(cells: Sequence[Cell]) -> str:
    """The cells in which too little was changed, by name, with how many segments were."""
    names = [f"{_called(cell.place)} ({cell.changed})" for cell in cells if not cell.large_enough]
    return f"Left out, fewer than {LEAST_CHANGED} segments changed: {', '.join(names)}." if names else ""


def _pool(whole: Cell, cells: Sequence[Cell], name: str) -> None:
    """The mean over cells, its resamples, and what each segment contributes."""
    whole.numbers[f"overall_{name}"] = mean_of([cell.numbers[name] for cell in cells])
    if all(name in cell.contributions for cell in cells):
        parts = [aligned(cell.keys, whole.keys, cell.contributions[name]) for cell in cells]
        whole.contributions[f"overall_{name}"] = np.mean(parts, axis=0)


def _relate(whole: Cell, name: str, function: Callable[[Array, Array], Array]) -> None:
    """A number made of pooled quality under noise and pooled clean quality."""
    sides = [f"overall_{side}" for side in ("quality_perturbed", "quality")]
    drawn = [whole.numbers[side] for side in sides]
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(function(*(np.asarray(side.value) for side in drawn)))
        whole.numbers[name] = Resampled(value, function(*(side.values for side in drawn)))
        if all(side in whole.contributions for side in sides) and (n := len(whole.keys)) > 1:
            without = [(whole.numbers[side].value - whole.contributions[side]) * n / (n - 1) for side in sides]
            whole.contributions[name] = value - (n - 1) / n * function(*without)


def _meaningless_ratio(whole: Cell, cells: Sequence[Cell]) -> str | None:
    """Why the overall ROBUST means nothing, if so: no cell has one, or a pooled quality reaches zero."""
    if not any("robust" in cell.numbers for cell in cells):
        return next((cell.notes["robust"] for cell in cells if "robust" in cell.notes), None)
    clean, noisy = (whole.numbers[name] for name in ("overall_quality", "overall_quality_perturbed"))
    if reaches_zero(clean, divides=True) or reaches_zero(noisy, divides=False):
        return "ROBUST is a ratio, and the overall quality reaches zero."
    return None


def _shared(group: Sequence[Cell]) -> list[list[Cell]]:
    """Each system's cells under the perturbations that all systems were tried under, in the same order for each."""
    systems = grouped(group, lambda cell: cell.place.system)
    common = set.intersection(*({cell.place.question for cell in cells} for cells in systems.values()))
    return [[cell for cell in cells if cell.place.question in common] for cells in systems.values()]


def _figures(whole: Cell) -> Iterator[Measure]:
    """The overall figures of a system, and those that mean nothing here with the reason."""
    place = whole.place.columns
    for name, kind in OVERALL.items():
        if name in whole.numbers:
            if name in ("overall_delta", "overall_robust"):
                yield measured_loss(kind, whole, name, whole.notes.get(name), **place)
            else:
                yield measured(kind, whole.numbers[name], whole.n, note=whole.notes.get(name), **place)
        elif name in whole.notes:
            yield undefined(kind, whole.n, whole.notes[name], **place)


def _ranks(systems: Sequence[Cell]) -> list[Measure]:
    """Systems in order of quality under noise, on the data and in every resample; equal ones share a rank."""
    name = next((name for name in RANKED_BY if all(name in cell.numbers for cell in systems)), None)
    if len(systems) < 2 or name is None:
        return []
    observed = _places(np.array([[cell.numbers[name].value] for cell in systems]))[:, 0]
    drawn = _places(np.stack([cell.numbers[name].values for cell in systems]))
    note = f"Ranked by {RANKED_BY[name]}."
    return [
        measured(kinds.OVERALL_RANK, Resampled(float(rank), some), cell.n, note=note, **cell.place.columns)
        for cell, rank, some in zip(systems, observed, drawn, strict=True)
    ]


def _places(values: Array) -> Array:
    """Ranks down the first axis, 1 the largest; equal ones share a rank."""
    return np.asarray(1.0 + (values[None, :, :] > values[:, None, :]).sum(axis=1))


def _differences(systems: Sequence[Cell]) -> list[Measure]:
    """Every two systems: the differences of their overall figures, tested; Δ where ROBUST is undefined."""
    families = Families()
    for one, other in combinations(systems, 2):
        if not np.array_equal(one.keys, other.keys):
            continue
        for name in _shared_names(one, other):
            place = {**one.place.columns, "other": other.place.system}
            measure = measured(OVERALL[name].difference(), one.numbers[name] - other.numbers[name], one.n, **place)
            family = (one.place.language_pair, one.place.scorer, f"{QUESTIONS[name]} of two systems")
            families.add(family, measure, paired_test(one, other, name))
    return families.judge()


def _shared_names(one: Cell, other: Cell) -> list[str]:
    """The overall figures that both sides have; Δ stands in where ROBUST is undefined."""
    found = [name for name in OVERALL if name in one.numbers and name in other.numbers]
    return [name for name in found if name != "overall_delta" or "overall_robust" not in found]


def overall_pairs(pairs: Sequence[tuple[Cell, Cell]]) -> Iterator[tuple[Cell, Cell]]:
    """The overall cells of every system in an old and a new run, over the perturbations that both have."""
    known = [pair for pair in pairs if pair[1].place.perturbed]
    for group in grouped(known, lambda pair: pair[1].place.of_system).values():
        before, after = (overall_cell([pair[side] for pair in group]) for side in (0, 1))
        if np.array_equal(before.keys, after.keys):
            yield before, after


def units(cells: Sequence[Cell]) -> Keys:
    """The segments of some cells together."""
    distinct = {id(cell.keys): cell.keys for cell in cells}
    return np.unique(np.concatenate(list(distinct.values())))


def _called(place: Place) -> str:
    return label_of(place.perturbation or "", place.level)
