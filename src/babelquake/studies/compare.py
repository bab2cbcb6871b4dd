"""Is the new run worse than the old one? What `babelquake compare` asks, for every kind of run.

Where both runs judged the same segments, the difference new − old is tested in pairs, from the stored statistics, as
every other difference is; otherwise by the normal approximation z = (new − old)/√(sd² + sd²) on stored values.
One-sided: only what became worse counts, by the direction that the measure itself names. One family of tests per
language pair, scorer and measure.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from babelquake.errors import UserError, one_of
from babelquake.runs.run import AnyRun, Run, opened
from babelquake.scorers import scorer as scorer_of
from babelquake.stats.corrections import benjamini_hochberg
from babelquake.stats.families import Outcome, corrected
from babelquake.stats.resampling import least_draws
from babelquake.stats.testing import normal_test
from babelquake.studies.card import STUDIES, Study
from babelquake.studies.cells import Cell, Place, Tested, grouped, paired_test

Correction = Literal["max-t", "bh", "none"]


@dataclass(frozen=True)
class Change:
    """One measure in two runs."""

    language_pair: str | None
    system: str | None
    scorer: str | None
    perturbation: str | None
    level: float | None
    measure: str
    old: float
    new: float
    p: float | None
    """One-sided: how often a change for the worse like this comes by chance."""
    p_corrected: float | None
    paired: bool
    regression: bool
    testable: bool = True
    note: str | None = None
    """Why it cannot be tested."""
    group: str | None = None
    """The part of the data, such as a severity or a year; None for all."""

    @property
    def difference(self) -> float:
        """New minus old."""
        return self.new - self.old


def compare(
    old: AnyRun,
    new: AnyRun,
    *,
    alpha: float = 0.05,
    min_drop: float = 0.0,
    correction: Correction = "max-t",
    seed: int = 0,
) -> list[Change]:
    """Every gated measure that both runs have; `regression`: significantly worse, by more than `min_drop`."""
    one_of("--correction", correction, Correction)
    if not 0 <= alpha <= 1:
        raise UserError(f"--alpha {alpha}: expected a number from 0 to 1.")
    old, new = opened([old, new])
    if old.info.study != new.info.study:
        raise UserError(
            f"{old.folder} is a {old.info.study} run, {new.folder} a {new.info.study} run: compare like with like."
        )
    study = STUDIES.get(new.info.study)
    if not study.gated:
        raise UserError(f"{study.name} runs are not compared: the study measures nothing that must not get worse.")
    for option in study.alike:
        if (one := old.info.config.get(option)) != (other := new.info.config.get(option)):
            raise UserError(
                f"the {option} of {old.folder} is {one}, that of {new.folder} is {other}: compare like with like."
            )
    found = list(_paired(study, old, new, alpha, seed))
    known = {(tested.place, tested.measure) for tested in found}
    found += [tested for tested in _stored(study, old, new, alpha) if (tested.place, tested.measure) not in known]
    if not found:
        raise UserError(
            f"{old.folder} and {new.folder} have no measure in common: same suite, scorers and data are needed."
        )
    return [
        Change(
            **tested.place.columns,
            measure=tested.measure,
            old=tested.old,
            new=tested.new,
            p=outcome.p,
            p_corrected=outcome.p_corrected,
            paired=tested.paired,
            regression=outcome.testable and (outcome.p_corrected or 0.0) < alpha and -tested.test.value > min_drop,
            testable=outcome.testable,
            note=outcome.reason,
        )
        for tested, outcome in zip(found, _judged(found, alpha, correction), strict=True)
    ]


def _judged(found: Sequence[Tested], alpha: float, correction: Correction) -> list[Outcome]:
    """The outcome of every test, corrected within its family or, if so asked, over all or not at all."""
    families = grouped(range(len(found)), lambda place: found[place].family if correction == "max-t" else place)
    outcomes: dict[int, Outcome] = {}
    for places in families.values():
        outcomes |= dict(zip(places, corrected([found[place].test for place in places], alpha), strict=True))
    ordered = [outcomes[place] for place in range(len(found))]
    if correction != "bh":
        return ordered
    adjusted = benjamini_hochberg([outcome.p if outcome.testable else None for outcome in ordered])
    return [
        Outcome(outcome.p, float(p) if outcome.testable else None, outcome.testable, outcome.reason)
        for outcome, p in zip(ordered, adjusted, strict=True)
    ]


def _paired(study: Study, old: Run, new: Run, alpha: float, seed: int) -> Iterator[Tested]:
    """Cells of equal scorer, perturbation and level on the same segments; systems by name, or the only ones."""
    draws = max(int(run.info.number("resamples", 2000)) for run in (old, new))
    befores, afters = (stored_cells(study, run, max(draws, least_draws(alpha)), seed) for run in (old, new))
    pairs = list(_matched(befores, afters))
    down = {kind.name for kind in study.measures if kind.better == "down"}
    for before, after in pairs:
        for name in _names(before, after, study.gated):
            if study.counts(new, name, after.place.perturbation):
                one, two = before.numbers[name].value, after.numbers[name].value
                gained = (before, after) if name in down else (after, before)
                yield Tested(after.place, name, one, two, paired_test(*gained, name, "less", seed), True)
    yield from study.overall(pairs, seed)


def stored_cells(study: Study, run: Run, resamples: int, seed: int) -> list[Cell]:
    """Every cell that the run's tables allow.

    Scorers are asked for their formula only. One that cannot be made here, because its file is elsewhere say, has no
    cells.
    """
    scorers = []
    for name in run.info.listed("scorer"):
        with suppress(UserError):
            scorers.append(scorer_of(name))
    return list(study.cells(run, scorers, resamples, seed))


def _names(before: Cell, after: Cell, gated: Sequence[str]) -> list[str]:
    """The gated numbers that both cells have; Δ stands in for a ROBUST that is undefined."""
    both = before.numbers.keys() & after.numbers.keys()
    names = [name for name in gated if name in both]
    return ["delta", *names] if "robust" in gated and "robust" not in both and "delta" in both else names


def _matched(befores: Sequence[Cell], afters: Sequence[Cell]) -> Iterator[tuple[Cell, Cell]]:
    """Cells of one question on the same segments, in the order of the new run."""
    alone = all(len({cell.place.system for cell in cells}) == 1 for cells in (befores, afters))
    known = {(cell.place.question, None if alone else cell.place.system): cell for cell in befores}
    for after in afters:
        before = known.get((after.place.question, None if alone else after.place.system))
        if before is not None and not after.place.only_changed and np.array_equal(before.keys, after.keys):
            yield before, after


def _stored(study: Study, old: Run, new: Run, alpha: float) -> Iterator[Tested]:
    """Stored values with their standard deviations, for runs on other segments."""
    befores, afters = (
        [study.placed(run, row) for row in run.measures.iter_rows(named=True) if _counts(study, new, row)]
        for run in (old, new)
    )
    alone = all(len({row["system"] for row in rows if row["system"]}) <= 1 for rows in (befores, afters))
    known = {(row["measure"], _place(row, alone)): row for row in befores}
    for row in afters:
        if (former := known.get((row["measure"], _place(row, alone)))) is not None:
            sign = -1 if row["better"] == "down" else 1
            before, after = ((sign * side["value"], side["sd"]) for side in (former, row))
            test = normal_test(before, after, min(former["n"], row["n"]), alpha)
            yield Tested(_place(row), row["measure"], former["value"], row["value"], test, False)


def _counts(study: Study, run: Run, row: dict[str, Any]) -> bool:
    gated = row["measure"] in study.gated and study.counts(run, row["measure"], row["perturbation"])
    return gated and row["value"] is not None and row["other"] is None


def _place(row: dict[str, Any], alone: bool = False) -> Place:
    names = ("language_pair", "scorer", "perturbation", "level", "group")
    return Place(**{name: row[name] for name in names}, system=None if alone else row["system"])
