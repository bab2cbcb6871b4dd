"""Systems behind defences, against the same systems without: what a defence wins back, and what it costs.

All numbers are paired: the defended and the undefended system translate the same texts. `recovered` is the share of the
loss to a perturbation that a defence wins back, gain over loss. A defence must not cost quality on clean text:
`clean_margin` is what is left of the margin allowed, tested one-sided against zero (non-inferiority), and corrected for
the number of defences.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from babelquake.runs.measures import Measure
from babelquake.scorers import Scorer
from babelquake.stats.bootstrap import Resampled
from babelquake.stats.intervals import LEAST
from babelquake.studies.cells import Cell, paired_test
from babelquake.studies.mt import kinds
from babelquake.studies.mt.overall import overall_cell
from babelquake.studies.mt.robustness import perturbed
from babelquake.studies.tests_to_measures import Families, measured, undefined
from babelquake.systems import System
from babelquake.systems.defended import Defended

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
    known = {(cell.place.language_pair, cell.place.system, cell.place.question): cell for cell in found}
    defended = defended_in(systems)
    for pair, system in defended:
        rivals = sum(other.inner.name == system.inner.name and here == pair for here, other in defended)
        for scorer in scorers:
            mine = [
                cell
                for cell in found
                if (cell.place.language_pair, cell.place.system, cell.place.scorer) == (pair, system.name, scorer.name)
            ]
            pairs = [
                (cell, bare)
                for cell in mine
                if (bare := known.get((pair, system.inner.name, cell.place.question))) is not None
                and np.array_equal(cell.keys, bare.keys)
            ]
            both = [(cell, bare) for cell, bare in pairs if cell in perturbed([cell])]
            for cell, bare in both:
                measures += _won_back(cell, bare, "", families)
            if both:
                ours, theirs = (overall_cell([pair_[side] for pair_ in both]) for side in (0, 1))
                measures += _won_back(ours, theirs, "overall_", families)
            clean = [(cell, bare) for cell, bare in pairs if cell.place.perturbation is None]
            measures += _clean(*clean[0], scorer, margin, rivals, families) if clean else []
        measures += _costs(pair, system)
    families.judge()
    return measures


def _won_back(cell: Cell, bare: Cell, prefix: str, families: Families) -> Iterator[Measure]:
    """The gain of a defence under one perturbation, or overall, tested; and what share of the loss that is."""
    name = f"{prefix}quality_perturbed"
    if name not in cell.numbers or name not in bare.numbers:
        return
    place = {**cell.place.columns, "other": bare.place.system, "changed": cell.changed}
    gain, loss = cell.numbers[name] - bare.numbers[name], bare.numbers[f"{prefix}delta"]
    kind, share = (kinds.OVERALL_GAIN, kinds.OVERALL_RECOVERED) if prefix else (kinds.GAIN, kinds.RECOVERED)
    found = measured(kind, gain, cell.n, **place)
    question = "overall gain by defences" if prefix else "gain by defences"
    families.add((cell.place.language_pair, cell.place.scorer, question), found, paired_test(cell, bare, name))
    yield found
    if not loss.value < 0 or np.mean(loss.values >= 0) > SURE:
        yield undefined(share, cell.n, NO_LOSS, **place)
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn = np.where(loss.values < 0, 100 * gain.values / -loss.values, np.nan)
        yield measured(share, Resampled(100 * gain.value / -loss.value, drawn), cell.n, **place)


def _clean(cell: Cell, bare: Cell, scorer: Scorer, margin: float, rivals: int, families: Families) -> Iterator[Measure]:
    """What a defence does to clean text, tested both ways: is there a change, and is it within the margin?"""
    change = cell.numbers["quality"] - bare.numbers["quality"]
    place = {**cell.place.columns, "other": bare.place.system}
    found = measured(kinds.CLEAN_CHANGE, change, cell.n, **place)
    question = "clean quality behind defences"
    families.add((cell.place.language_pair, cell.place.scorer, question), found, paired_test(cell, bare, "quality"))
    yield found
    if scorer.perfect is None:
        note = f"{scorer.name} has no scale on which a margin could be stated."
        yield undefined(kinds.CLEAN_MARGIN, cell.n, note, **place)
        return
    if cell.n < LEAST:
        note = f"{cell.n} segments are too few to show that clean text stays within the margin; {LEAST} are needed."
        yield undefined(kinds.CLEAN_MARGIN, cell.n, note, **place)
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
