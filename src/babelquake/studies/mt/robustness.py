"""The measures of the MT study: quality, Δ, ROBUST and CONSIS (Niu 2020 §2), ranks, and differences between systems.

One family of tests per language pair, scorer and kind of question: adding a scorer or a language changes no verdict on
another. ROBUST is 100 where Δ is 0, so Δ's test is ROBUST's too.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from babelquake.runs.measures import Measure
from babelquake.studies.cells import Cell, grouped, paired_test
from babelquake.studies.inquiries import REPEAT
from babelquake.studies.mt import kinds
from babelquake.studies.tests_to_measures import Families, measured, measured_loss, undefined

KINDS = {
    kind.name: kind
    for kind in (kinds.QUALITY, kinds.QUALITY_PERTURBED, kinds.DELTA, kinds.ROBUST, kinds.CONSIS, kinds.HURT)
}
COMPARED = {"robust": "ROBUST", "delta": "Δ", "consis": "CONSIS"}
"""What two systems are tested for; Δ where ROBUST is undefined."""
RANKED_BY = {"quality_perturbed": "quality under noise", "consis": "CONSIS"}
"""What systems are ranked by: the first that all of them have."""


def cell_measures(found: Sequence[Cell]) -> list[Measure]:
    """All measures of all cells; Δ and ROBUST tested, over all texts and, in a family apart, over the changed ones."""
    measures: list[Measure] = []
    families = Families()
    tested: list[tuple[Measure, Measure]] = []
    for cell in found:
        named = dict(_of_cell(cell))
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


def _of_cell(cell: Cell) -> Iterator[tuple[str, Measure]]:
    """Every number of a cell, and those that mean nothing here with the reason."""
    place = {**cell.place.columns, "changed": cell.changed}
    for name in KINDS:
        kind = cell.place.kind(KINDS[name])
        if name in cell.numbers:
            if name in ("delta", "robust"):
                yield name, measured_loss(kind, cell, name, cell.few_changed, **place)
            else:
                yield name, measured(kind, cell.numbers[name], cell.sizes.get(name, cell.n), **place)
        elif name in cell.notes:
            yield name, undefined(kind, cell.sizes.get(name, cell.n), cell.notes[name], **place)


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
                drawn = one.numbers[name] - other.numbers[name]
                place = {**one.place.columns, "other": other.place.system}
                measure = measured(KINDS[name].difference(), drawn, one.sizes.get(name, one.n), **place)
                question = f"{COMPARED[name]} of two systems"
                families.add(one.place.asked(question), measure, paired_test(one, other, name))
    return sorted(families.judge(), key=lambda measure: measure.kind.name, reverse=True)


def self_agreement(found: Sequence[Cell]) -> list[Measure]:
    """CONSIS of a system with itself, asked again for the same texts; and how far CONSIS under noise is below that."""
    measures: list[Measure] = []
    families = Families()
    again = {
        (cell.place.language_pair, cell.place.scorer, cell.place.system): cell
        for cell in found
        if cell.place.perturbation == REPEAT and cell.place.group is None and not cell.place.only_changed
    }
    for cell in again.values():
        if "consis" in cell.numbers:
            drawn = cell.numbers["consis"]
            measures.append(measured(kinds.SELF_AGREEMENT, drawn, cell.n, **cell.place.of_system.columns))
    for cell in perturbed(found):
        own = again.get((cell.place.language_pair, cell.place.scorer, cell.place.system))
        if own is None or not {"consis"} <= cell.numbers.keys() & own.numbers.keys():
            continue
        if np.array_equal(cell.keys, own.keys):
            drawn = cell.numbers["consis"] - own.numbers["consis"]
            measure = measured(kinds.CONSIS_BEYOND_NOISE, drawn, cell.n, **cell.place.columns)
            families.add(cell.place.asked("CONSIS beyond sampling"), measure, paired_test(cell, own, "consis"))
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
    """Pearson's r between ROBUST and CONSIS over the cells of a language pair (Niu Figure 1).

    At level 0 nothing is perturbed and both are 100: such cells would make the correlation.
    """
    measures = []
    known = [cell for cell in perturbed(found) if {"robust", "consis"} <= cell.numbers.keys()]
    for (pair, scorer), group in grouped(known, lambda cell: (cell.place.language_pair, cell.place.scorer)).items():
        points = np.array([[cell.numbers["robust"].value, cell.numbers["consis"].value] for cell in group])
        points = points[np.isfinite(points).all(axis=1)]
        if len(points) > 2 and points.std(axis=0).min() > 0:
            r = float(np.corrcoef(points.T)[0, 1])
            measures.append(Measure(kinds.ROBUST_CONSIS, r, len(points), language_pair=pair, scorer=scorer))
    return measures
