"""The measures of the MT study: quality, Δ, ROBUST and CONSIS (Niu 2020 §2), overall, ranks, differences, defences.

One family of tests per language pair, scorer and kind of question: adding a scorer or a language changes no verdict on
another. ROBUST is 100 where Δ is 0, so Δ's test is ROBUST's too.

Which system is best under noise? One figure per system, scorer and measure for the whole suite. Quality is pooled:
within a perturbation (at one level) over its segments, as the scorer does, then over perturbations, each weighing the
same. Overall quality is that of the clean translations of the same segments, overall Δ and ROBUST are the difference
and the ratio of the two pooled qualities. A mean of ratios would follow the one cell whose clean quality is near zero;
in a ratio of means no cell has more than its share: of k cells one moves a quality between 0 and 100 by at most 100/k
points. Cells at level 0, where nothing is perturbed, and cells with fewer than `LEAST_CHANGED` changed segments stay
out; the latter are named.

Systems behind defences stand against the same systems without: both translate the same texts. `recovered` is the share
of the loss to a perturbation that a defence wins back, gain over loss. A defence must not cost quality on clean text:
`clean_margin` is what is left of the margin allowed, tested one-sided against zero (non-inferiority), and corrected for
the number of defences.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from babelquake.perturb.labels import REPEAT, label_of
from babelquake.runs.measures import Measure
from babelquake.scorers import Scorer
from babelquake.scorers.base import Array
from babelquake.stats.agreement import group_pearson
from babelquake.stats.bootstrap import Resampled
from babelquake.stats.intervals import LEAST
from babelquake.stats.resampling import Keys, aligned, combined, short
from babelquake.stats.testing import FEW, pseudo_values
from babelquake.studies.cells import (
    LEAST_CHANGED,
    Cell,
    Families,
    Place,
    differing,
    gains,
    grouped,
    mean_of,
    measured,
    measured_loss,
    paired_test,
)
from babelquake.studies.kinds import mt as kinds
from babelquake.studies.mt.cells import reaches_zero
from babelquake.systems import System
from babelquake.systems.defended import Defended

NUMBERS = ("quality", "quality_perturbed", "delta", "robust", "consis", "hurt")
"""The measures of a cell, in order."""
LOSSES = ("delta", "robust", "overall_delta", "overall_robust")
"""Those whose intervals are fit for few large losses among many zeros."""
COMPARED = {"robust": "ROBUST", "delta": "Δ", "consis": "CONSIS"}
"""What two systems are tested for; Δ where ROBUST is undefined."""
Whole = tuple[Cell, Sequence[Cell]]
"""A system's overall cell, and the cells that it is made of."""
RANKED_BY = {"quality_perturbed": "quality under noise", "consis": "CONSIS"}
"""What systems are ranked by: the first that all of them have."""


def cell_measures(found: Sequence[Cell]) -> list[Measure]:
    """All measures of all cells; Δ and ROBUST tested, over all texts and, in a family apart, over the changed ones."""
    measures: list[Measure] = []
    families = Families()
    tested: list[tuple[Measure, Measure]] = []
    for cell in found:
        named = dict(_numbers_of(cell, NUMBERS))
        measures += named.values()
        if "delta" in cell.tests:
            families.add(cell.place.asked("Δ"), named["delta"], cell.tests["delta"])
            if "robust" in cell.numbers:
                tested.append((named["delta"], named["robust"]))
    families.judge()
    for delta, robust in tested:
        robust.p, robust.p_corrected, robust.testable = delta.p, delta.p_corrected, delta.testable
        robust.family, robust.note = delta.family, delta.note
    return measures


def _numbers_of(cell: Cell, names: Iterable[str]) -> Iterator[tuple[str, Measure]]:
    """The numbers of a cell by name, and those that mean nothing here with the reason."""
    place = {**cell.place.columns, "changed": cell.changed}
    for name in names:
        kind, n, note = cell.place.kind(kinds.by_name[name]), cell.sizes.get(name, cell.n), cell.notes.get(name)
        if name in LOSSES and name in cell.numbers:
            yield name, measured_loss(kind, cell, name, note or cell.few_changed, **place)
        elif name in cell.numbers:
            yield name, measured(kind, cell.numbers[name], n, note=note, **place)
        elif note is not None:
            yield name, Measure(kind, None, n, note=note, **place)


def system_differences(found: Sequence[Cell]) -> list[Measure]:
    """ROBUST and CONSIS of one system minus another's, paired, on the same segments; Δ where ROBUST is undefined."""
    families = Families()
    for group in questions(found):
        for one, other in combinations(group, 2):
            if not np.array_equal(one.keys, other.keys):
                continue
            for name in one.numbers.keys() & other.numbers.keys() & COMPARED.keys():
                if name == "delta" and "robust" in one.numbers.keys() & other.numbers.keys():
                    continue
                place = {**one.place.columns, "other": other.place.system}
                family = one.place.asked(f"{COMPARED[name]} of two systems")
                families.compare(family, kinds.by_name[name].difference(), (one, other), name, **place)
    return sorted(families.judge(), key=lambda measure: measure.kind.name, reverse=True)


def self_agreement(found: Sequence[Cell]) -> list[Measure]:
    """CONSIS of a system with itself, asked again for the same texts; and how far CONSIS under noise is below that."""
    measures: list[Measure] = []
    families = Families()
    again = {
        cell.place.of_system: cell
        for cell in found
        if cell.place.perturbation == REPEAT and cell.place.group is None and not cell.place.only_changed
        if "consis" in cell.numbers
    }
    for place, cell in again.items():
        measures.append(measured(kinds.SELF_AGREEMENT, cell.numbers["consis"], cell.n, **place.columns))
    for cell in perturbed(found):
        own = again.get(cell.place.of_system)
        if own is not None and "consis" in cell.numbers and np.array_equal(cell.keys, own.keys):
            family = cell.place.asked("CONSIS beyond sampling")
            families.compare(family, kinds.CONSIS_BEYOND_NOISE, (cell, own), "consis", **cell.place.columns)
    return [*measures, *families.judge()]


def questions(found: Sequence[Cell]) -> list[list[Cell]]:
    """The systems' cells of each question over all texts."""
    over_all = [cell for cell in found if not cell.place.only_changed and cell.place.perturbation != REPEAT]
    return list(grouped(over_all, lambda cell: cell.place.question).values())


def perturbed(found: Sequence[Cell]) -> list[Cell]:
    """The cells over all texts in which something was perturbed: not those of clean sources, nor those at level 0."""
    return [cell for cell in found if not cell.place.only_changed and cell.place.perturbed]


def ranks(found: Sequence[Cell]) -> list[Measure]:
    """Systems in order per perturbation and scorer, 1 the best under noise; equal systems share a rank."""
    measures = []
    for group in questions(found):
        name = next((name for name in RANKED_BY if all(name in cell.numbers for cell in group)), None)
        if len(group) < 2 or name is None:
            continue
        values = [cell.numbers[name].value for cell in group]
        note = f"Ranked by {RANKED_BY[name]}."
        for value, cell in sorted(zip(values, group, strict=True), key=lambda pair: -pair[0]):
            rank = 1.0 + sum(better > value for better in values)
            measures.append(Measure(kinds.RANK, rank, cell.n, note=note, **cell.place.columns))
    return measures


def robust_consis_correlation(found: Sequence[Cell]) -> list[Measure]:
    """Pearson's r between ROBUST and CONSIS over the cells of a language pair (Niu Figure 1); chance is over segments.

    At level 0 nothing is perturbed and both are 100: such cells would make the correlation.
    """
    measures = []
    names = ("robust", "consis")
    known = [
        cell
        for cell in perturbed(found)
        if all(name in cell.numbers and np.isfinite(cell.numbers[name].value) for name in names)
    ]
    for (pair, scorer), group in grouped(known, lambda cell: (cell.place.language_pair, cell.place.scorer)).items():
        points = np.array([[cell.numbers[name].value for cell in group] for name in names])
        if len(group) > 2 and points.std(axis=1).min() > 0:
            sides = (np.stack([cell.numbers[name].values for cell in group], axis=1) for name in names)
            drawn = Resampled(float(np.corrcoef(points)[0, 1]), group_pearson(*sides))
            measures.append(
                measured(kinds.ROBUST_CONSIS_CORRELATION, drawn, len(group), language_pair=pair, scorer=scorer)
            )
    return measures


OVERALL = {
    "overall_quality": "overall clean quality",
    "overall_quality_perturbed": "overall quality under noise",
    "overall_robust": "overall ROBUST",
    "overall_consis": "overall CONSIS",
    "overall_hurt": "overall translations made worse",
    "overall_delta": "overall Δ",
}
"""The overall figures, in order, and what a family of their tests asks about."""


def overall(found: Sequence[Cell]) -> list[Measure]:
    """Overall figures of every system and scorer, and the differences between systems."""
    measures: list[Measure] = []
    views = grouped(perturbed(found), lambda cell: (cell.place.language_pair, cell.place.scorer))
    for group in views.values():
        shared = _shared(group)
        systems = [overall_cell(cells) for cells in shared]
        measures += [measure for cell in systems for _, measure in _numbers_of(cell, OVERALL)]
        measures += _ranks(systems)
        measures += _differences(list(zip(systems, shared, strict=True)))
    return measures


def overall_figures(found: Sequence[Cell]) -> list[Measure]:
    """Overall figures of every system and scorer, compared with no other."""
    views = grouped(perturbed(found), lambda cell: cell.place.of_system)
    return [measure for cells in views.values() for _, measure in _numbers_of(overall_cell(cells), OVERALL)]


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
    small = [cell for cell in cells if not cell.large_enough]
    names = [f"{label_of(cell.place.perturbation or '', cell.place.level)} ({cell.changed})" for cell in small]
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
            whole.contributions[name] = pseudo_values(np.asarray(value), function(*without), n)


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


def _ranks(systems: Sequence[Cell]) -> list[Measure]:
    """Systems in order of quality under noise, on the data and in every resample; equal ones share a rank.

    Without references there is no order: the most consistent system may be one that always says the same.
    """
    name = "overall_quality_perturbed"
    if len(systems) < 2 or not all(name in cell.numbers for cell in systems):
        return []
    observed = _places(np.array([[cell.numbers[name].value] for cell in systems]))[:, 0]
    drawn = _places(np.stack([cell.numbers[name].values for cell in systems]))
    note = f"Ranked by {RANKED_BY['quality_perturbed']}."
    return [
        measured(kinds.OVERALL_RANK, Resampled(float(rank), some), cell.n, note=note, **cell.place.columns)
        for cell, rank, some in zip(systems, observed, drawn, strict=True)
    ]


def _places(values: Array) -> Array:
    """Ranks down the first axis, 1 the largest; equal ones share a rank."""
    return np.asarray(1.0 + (values[None, :, :] > values[:, None, :]).sum(axis=1))


def _differences(systems: Sequence[Whole]) -> list[Measure]:
    """Every two systems: the differences of their overall figures, tested; Δ where ROBUST is undefined."""
    families = Families()
    for pair in combinations(systems, 2):
        one, other = (whole for whole, _ in pair)
        if not np.array_equal(one.keys, other.keys):
            continue
        arranged = overall_gains(*pair)
        both = [name for name in OVERALL if name in one.numbers and name in other.numbers]
        for name in [name for name in both if name != "overall_delta" or "overall_robust" not in both]:
            place = {**one.place.columns, "other": other.place.system}
            family = (one.place.language_pair, one.place.scorer, f"{OVERALL[name]} of two systems")
            families.compare(family, kinds.by_name[name].difference(), (one, other), name, arranged.get(name), **place)
    return families.judge()


def overall_pairs(pairs: Sequence[tuple[Cell, Cell]]) -> Iterator[tuple[Cell, Cell]]:
    """The overall cells of every system in an old and a new run, over the perturbations that both have."""
    known = [pair for pair in pairs if pair[1].place.perturbed]
    for group in grouped(known, lambda pair: pair[1].place.of_system).values():
        before, after = (overall_cell([pair[side] for pair in group]) for side in (0, 1))
        if np.array_equal(before.keys, after.keys):
            yield before, after


def overall_gains(one: Whole, other: Whole) -> dict[str, Array]:
    """By how much one's figures exceed the other's where whole rows change sides; none where many segments differ."""
    if differing(one[0], other[0]).sum() >= FEW:
        return {}
    moved = gains(list(zip(other[1], one[1], strict=True)), overall_pairs)
    return {name: drawn for (place, name), drawn in moved.items() if place == one[0].place}


def units(cells: Sequence[Cell]) -> Keys:
    """The segments of some cells together."""
    distinct = {id(cell.keys): cell.keys for cell in cells}
    return np.unique(np.concatenate(list(distinct.values())))


NO_LOSS = "The undefended system loses nothing here that could be won back."
SURE = 0.025
"""A loss is one where no more than this share of its resamples is none."""


def defended_in(systems: Mapping[str | None, Sequence[System]]) -> list[tuple[str | None, Defended]]:
    """The defended systems of a plan with their language pairs."""
    return [(pair, one) for pair, some in systems.items() for one in some if isinstance(one, Defended)]


def defence_measures(
    found: Sequence[Cell], systems: Mapping[str | None, Sequence[System]], scorers: Sequence[Scorer], margin: float
) -> list[Measure]:
    """Of every defended system: gains, shares of the loss won back, what clean text loses, time and calls."""
    families = Families()
    measures: list[Measure] = []
    known = {cell.place: cell for cell in found}
    defended = defended_in(systems)
    for pair, system in defended:
        rivals = sum(other.inner.name == system.inner.name and here == pair for here, other in defended)
        for scorer in scorers:
            mine = Place(pair, scorer.name, system=system.name)
            pairs = [
                (cell, bare)
                for cell in found
                if cell.place.of_system == mine
                and (bare := known.get(replace(cell.place, system=system.inner.name))) is not None
                and np.array_equal(cell.keys, bare.keys)
            ]
            both = [(cell, bare) for cell, bare in pairs if cell in perturbed([cell])]
            for cell, bare in both:
                measures += _won_back(cell, bare, "", families)
            if both:
                sides = [[pair_[side] for pair_ in both] for side in (0, 1)]
                ours, theirs = ((overall_cell(cells), cells) for cells in sides)
                measures += _won_back(ours[0], theirs[0], "overall_", families, overall_gains(ours, theirs))
            clean = [(cell, bare) for cell, bare in pairs if cell.place.perturbation is None]
            measures += _clean(*clean[0], scorer, margin, rivals, families) if clean else []
        measures += _costs(pair, system)
    families.judge()
    return measures


def _won_back(
    cell: Cell, bare: Cell, prefix: str, families: Families, arranged: Mapping[str, Array] | None = None
) -> Iterator[Measure]:
    """The gain of a defence under one perturbation, or overall, tested; and what share of the loss that is."""
    name = f"{prefix}quality_perturbed"
    if name not in cell.numbers or name not in bare.numbers:
        return
    place = {**cell.place.columns, "other": bare.place.system, "changed": cell.changed}
    gain, loss = cell.numbers[name] - bare.numbers[name], bare.numbers[f"{prefix}delta"]
    kind, share = (kinds.OVERALL_GAIN, kinds.OVERALL_RECOVERED) if prefix else (kinds.GAIN, kinds.RECOVERED)
    found = measured(kind, gain, cell.n, **place)
    question = "overall gain by defences" if prefix else "gain by defences"
    test = paired_test(cell, bare, name, arranged=(arranged or {}).get(name))
    families.add((cell.place.language_pair, cell.place.scorer, question), found, test)
    yield found
    if not loss.value < 0 or np.mean(loss.values >= 0) > SURE:
        yield Measure(share, None, cell.n, note=NO_LOSS, **place)
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn = np.where(loss.values < 0, 100 * gain.values / -loss.values, np.nan)
        yield measured(share, Resampled(100 * gain.value / -loss.value, drawn), cell.n, **place)


def _clean(cell: Cell, bare: Cell, scorer: Scorer, margin: float, rivals: int, families: Families) -> Iterator[Measure]:
    """What a defence does to clean text, tested both ways: is there a change, and is it within the margin?"""
    change = cell.numbers["quality"] - bare.numbers["quality"]
    place = {**cell.place.columns, "other": bare.place.system}
    family = (cell.place.language_pair, cell.place.scorer, "clean quality behind defences")
    yield families.compare(family, kinds.CLEAN_CHANGE, (cell, bare), "quality", **place)
    if scorer.perfect is None or cell.n < LEAST:
        few = f"{cell.n} segments are too few to show that clean text stays within the margin; {LEAST} are needed."
        note = f"{scorer.name} has no scale on which a margin could be stated." if scorer.perfect is None else few
        yield Measure(kinds.CLEAN_MARGIN, None, cell.n, note=note, **place)
        return
    allowed = margin * scorer.perfect / 100
    left = measured(kinds.CLEAN_MARGIN, Resampled(change.value + allowed, change.values + allowed), cell.n, **place)
    left.p = float((1 + np.sum(change.values + allowed <= 0)) / (1 + change.values.size))
    left.p_corrected = min(1.0, rivals * left.p)
    left.family = (cell.place.language_pair, cell.place.scorer, "clean quality within the margin")
    yield left


def _costs(pair: str | None, system: Defended) -> Iterator[Measure]:
    """Processor time of the defence itself, and calls of systems, for each sentence."""
    spent = system.spent
    place: dict[str, Any] = {"language_pair": pair, "system": system.name, "other": system.inner.name}
    if spent.texts:
        yield Measure(kinds.MILLISECONDS, 1000 * spent.seconds / spent.texts, spent.texts, **place)
        yield Measure(kinds.CALLS, spent.calls / spent.texts, spent.texts, **place)
