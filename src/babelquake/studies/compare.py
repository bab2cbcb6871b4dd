"""Is the new run worse than the old one? What `babelquake compare` asks, for every kind of run.

Where both runs judged the same segments, the difference new − old is tested in pairs, from the stored statistics, as
every other difference is; otherwise by the normal approximation z = (new − old)/√(sd² + sd²) on stored values.
One-sided: only a fall counts. One family of tests per language pair, scorer and measure.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import erfc, sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from babelquake.errors import UserError
from babelquake.runs.run import Run
from babelquake.stats.corrections import benjamini_hochberg
from babelquake.stats.families import Outcome, corrected
from babelquake.stats.resampling import least_draws
from babelquake.stats.testing import Test
from babelquake.studies.card import STUDIES
from babelquake.studies.cells import Cell, paired_test
from babelquake.studies.mt.overall import OVERALL, overall_difference, overall_test, shared_names
from babelquake.studies.stored import stored_cells

Correction = Literal["max-t", "bh", "none"]
Key = tuple[str | None, str | None, str | None, str | None, float | None, str]


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
    """One-sided: how often a fall like this comes by chance."""
    p_corrected: float | None
    paired: bool
    regression: bool
    testable: bool = True
    note: str | None = None
    """Why it cannot be tested."""

    @property
    def difference(self) -> float:
        """New minus old."""
        return self.new - self.old


class Tested(NamedTuple):
    """One measure in two runs before the correction for several tests."""

    key: Key
    old: float
    new: float
    fall: float
    """How much worse it became."""
    test: Test
    paired: bool

    @property
    def family(self) -> tuple[str | None, ...]:
        """The tests it is corrected with: those of its language pair, scorer and measure."""
        return (self.key[0], self.key[2], self.key[5])


def compare(
    old: Run, new: Run, *, alpha: float = 0.05, min_drop: float = 0.0, correction: Correction = "max-t", seed: int = 0
) -> list[Change]:
    """Every gated measure that both runs have; `regression` where it fell significantly and by more than `min_drop`."""
    if old.info.study != new.info.study:
        raise UserError(
            f"{old.folder} is a {old.info.study} run, {new.folder} a {new.info.study} run: compare like with like."
        )
    found = list(_paired(old, new, alpha, seed))
    known = {tested.key for tested in found}
    found += [tested for tested in _stored(old, new, alpha) if tested.key not in known]
    if not found:
        raise UserError(
            f"{old.folder} and {new.folder} have no measure in common: same suite, scorers and data are needed."
        )
    return [
        Change(
            *tested.key,
            tested.old,
            tested.new,
            outcome.p,
            outcome.p_corrected,
            tested.paired,
            outcome.testable and (outcome.p_corrected or 0.0) < alpha and tested.fall > min_drop,
            outcome.testable,
            outcome.reason,
        )
        for tested, outcome in zip(found, _judged(found, alpha, correction), strict=True)
    ]


def _judged(found: Sequence[Tested], alpha: float, correction: Correction) -> list[Outcome]:
    """The outcome of every test, corrected within its family or, if so asked, over all or not at all."""
    families: dict[tuple[str | None, ...], list[int]] = {}
    for place, tested in enumerate(found):
        families.setdefault(tested.family if correction == "max-t" else (str(place),), []).append(place)
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


def _paired(old: Run, new: Run, alpha: float, seed: int) -> Iterator[Tested]:
    """Cells of equal scorer, perturbation and level on the same segments; systems by name, or the only ones."""
    draws = max(int(run.info.number("resamples", 2000)) for run in (old, new))
    befores, afters = (stored_cells(run, max(draws, least_draws(alpha)), seed) for run in (old, new))
    pairs = list(_matched(befores, afters))
    gated = STUDIES.get(new.info.study).gated
    meanings = new.info.facts.meaning
    for before, after in pairs:
        place = after.place
        for name in _names(before, after, gated):
            if (
                name == "delta"
                and new.info.study == "metric"
                and meanings.get(place.perturbation or "") != "preserving"
            ):
                continue
            one, two = before.numbers[name].value, after.numbers[name].value
            key = (place.language_pair, place.system, place.scorer, place.perturbation, place.level, name)
            yield Tested(key, one, two, one - two, paired_test(after, before, name, "less", seed), True)
    if new.info.study == "mt":
        yield from _overall(pairs, seed)


def _names(before: Cell, after: Cell, gated: Sequence[str]) -> list[str]:
    """The gated numbers that both cells have; Δ stands in for a ROBUST that is undefined."""
    both = before.numbers.keys() & after.numbers.keys()
    names = [name for name in gated if name in both]
    return ["delta", *names] if "robust" in gated and "robust" not in both and "delta" in both else names


def _overall(pairs: Sequence[tuple[Cell, Cell]], seed: int) -> Iterator[Tested]:
    """The overall figures of every system, over the perturbations that both runs have."""
    groups: dict[tuple[str | None, str, str | None], list[tuple[Cell, Cell]]] = {}
    for before, after in pairs:
        if after.place.level != 0:
            place = after.place
            groups.setdefault((place.language_pair, place.scorer, place.system), []).append((before, after))
    for (pair, scorer, system), group in groups.items():
        befores, afters = [one for one, _ in group], [other for _, other in group]
        for name in shared_names(afters, befores):
            old, new = (float(np.mean([cell.numbers[name].value for cell in side])) for side in (befores, afters))
            fall = -overall_difference(afters, befores, name).value
            test = overall_test(afters, befores, name, "less", seed)
            yield Tested((pair, system, scorer, None, None, OVERALL[name].name), old, new, fall, test, True)


def _matched(befores: Sequence[Cell], afters: Sequence[Cell]) -> Iterator[tuple[Cell, Cell]]:
    """Cells of one question on the same segments, in the order of the new run."""
    alone = all(len({cell.place.system for cell in cells}) == 1 for cells in (befores, afters))
    known = {(cell.place.question, None if alone else cell.place.system): cell for cell in befores}
    for after in afters:
        before = known.get((after.place.question, None if alone else after.place.system))
        if before is not None and not after.place.only_changed and np.array_equal(before.keys, after.keys):
            yield before, after


def _stored(old: Run, new: Run, alpha: float) -> Iterator[Tested]:
    """Stored values with their standard deviations, for runs on other segments."""
    gated, meanings = STUDIES.get(new.info.study).gated, new.info.facts.meaning
    befores = [row for row in old.measures.iter_rows(named=True) if _counts(row, gated)]
    afters = [row for row in new.measures.iter_rows(named=True) if _counts(row, gated)]
    alone = all(len({row["system"] for row in rows if row["system"]}) <= 1 for rows in (befores, afters))
    known = {_key(row, alone): row for row in befores}
    for row in afters:
        former = known.get(_key(row, alone))
        if former is None:
            continue
        if (
            row["measure"] == "delta"
            and new.info.study == "metric"
            and meanings.get(row["perturbation"]) != "preserving"
        ):
            continue
        test = normal_test(
            (former["value"], former["sd"]), (row["value"], row["sd"]), min(former["n"], row["n"]), alpha
        )
        yield Tested(_key(row), former["value"], row["value"], former["value"] - row["value"], test, False)


def _counts(row: dict[str, Any], gated: Sequence[str]) -> bool:
    known = {*gated, *(OVERALL[name].name for name in OVERALL if name in gated)}
    return row["measure"] in known and row["value"] is not None and row["other"] is None


def _key(row: dict[str, Any], alone: bool = False) -> Key:
    system = None if alone else row["system"]
    return (row["language_pair"], system, row["scorer"], row["perturbation"], row["level"], row["measure"])


def normal_test(
    old: tuple[float, float | None], new: tuple[float, float | None], segments: int, alpha: float = 0.05
) -> Test:
    """The one-sided test of a fall between independent values with standard deviations: p = P(Z ≤ z).

    Its draws, for the correction, are normal quantiles in an order that depends on the values alone.
    """
    from scipy.special import ndtri

    value, spread = new[0] - old[0], sqrt((old[1] or 0.0) ** 2 + (new[1] or 0.0) ** 2)
    draws = max(1999, least_draws(alpha))
    if not spread:
        p = 1.0 if value >= 0 else float("nan")
        return Test(value, np.zeros(draws), segments, 0, p, "nothing differs" if p == 1.0 else "undefined", "less")
    order = np.random.default_rng(abs(hash((round(old[0], 9), round(new[0], 9)))) % 2**32).permutation(draws)
    null = spread * ndtri((order + 0.5) / draws)
    return Test(value, null, segments, segments, 0.5 * erfc(-value / spread / sqrt(2)), "bootstrap", "less")
