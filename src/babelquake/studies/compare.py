"""Is the new run worse than the old one? What `babelquake compare` asks, for every kind of run.

MT runs on the same segments are compared by a paired bootstrap of the difference new − old, from the stored
statistics; everything else by the normal approximation z = (new − old)/√(sd² + sd²) on stored values.
One-sided: only a fall counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import erfc, sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from babelquake.errors import UserError
from babelquake.runs.run import Run
from babelquake.scorers import scorer as scorer_of
from babelquake.stats.bootstrap import Resampled
from babelquake.stats.corrections import benjamini_hochberg, holm
from babelquake.stats.pvalues import p_value
from babelquake.studies.card import STUDIES
from babelquake.studies.mt.robustness import Cell, cells

Correction = Literal["holm", "bh", "none"]
Key = tuple[str | None, str | None, str | None, str | None, float | None, str]
ADJUSTMENTS = {"holm": holm, "bh": benjamini_hochberg}


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
    p: float
    """One-sided: how often a fall like this comes by chance."""
    p_corrected: float
    paired: bool
    regression: bool

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
    """How much worse it became; for scores that count errors, how much it rose."""
    p: float
    paired: bool


def compare(
    old: Run, new: Run, *, alpha: float = 0.05, min_drop: float = 0.0, correction: Correction = "holm", seed: int = 0
) -> list[Change]:
    """Every gated measure that both runs have; `regression` where it fell significantly and by more than `min_drop`."""
    if old.info.study != new.info.study:
        raise UserError(
            f"{old.folder} is a {old.info.study} run, {new.folder} a {new.info.study} run: compare like with like."
        )
    pairs = list(_paired(old, new, seed) if old.info.study == "mt" else _stored(old, new))
    if not pairs:
        raise UserError(
            f"{old.folder} and {new.folder} have no measure in common: same suite, scorers and data are needed."
        )
    p_values = [found.p for found in pairs]
    adjusted = ADJUSTMENTS[correction](p_values) if correction in ADJUSTMENTS else p_values
    return [
        Change(
            *found.key,
            found.old,
            found.new,
            found.p,
            float(corrected),
            found.paired,
            bool(corrected < alpha and found.fall > min_drop),
        )
        for found, corrected in zip(pairs, adjusted, strict=True)
    ]


def _paired(old: Run, new: Run, seed: int) -> Iterator[Tested]:
    """MT runs: cells of equal scorer, perturbation and level; systems by name, or the only one of each run."""
    befores, afters = _cells(old, seed), _cells(new, seed)
    alone = all(len({cell.system for cell in found}) == 1 for found in (befores, afters))
    for after in afters:
        for before in befores:
            same = {**before.key, "system": ""} == {**after.key, "system": ""}
            if not same or (before.system != after.system and not alone):
                continue
            paired = _same_segments(old, new, before, after)
            for name in STUDIES.get("mt").gated:
                if name in before.measures and name in after.measures:
                    one, two = before.measures[name], after.measures[name]
                    fall = p_value((two - one).null, two.value - one.value, "less", segments=len(after.rows))
                    p = fall if paired else _normal_p(_moments(one), _moments(two))
                    key = (after.language_pair, after.system, after.scorer.name, after.perturbation, after.level, name)
                    yield Tested(key, one.value, two.value, one.value - two.value, p, paired)


def _cells(run: Run, seed: int) -> list[Cell]:
    judges = [scorer_of(name) for name in run.info.listed("scorer")]
    return list(cells(run.scores, judges, int(run.info.number("resamples", 2000)), seed))


def _same_segments(old: Run, new: Run, before: Cell, after: Cell) -> bool:
    if before.resamples != after.resamples or not np.array_equal(before.rows, after.rows):
        return False
    return all(old.segments[name].equals(new.segments[name]) for name in ("source", "references"))


def _stored(old: Run, new: Run) -> Iterator[Tested]:
    """Metric and QE runs: stored values with their standard deviations."""
    gated = STUDIES.get(new.info.study).gated
    meanings, errors = new.info.facts.meaning, new.info.facts.lower_is_better
    before = {_key(row): row for row in old.measures.iter_rows(named=True) if row["measure"] in gated}
    for row in new.measures.iter_rows(named=True):
        former = before.get(_key(row))
        if former is None or former["value"] is None or row["value"] is None:
            continue
        if row["measure"] == "delta" and meanings.get(row["perturbation"]) != "preserving":
            continue
        sign = -1 if row["measure"] == "delta" and row["scorer"] in errors else 1
        one, two = ((sign * found["value"], found["sd"] or 0.0) for found in (former, row))
        yield Tested(_key(row), former["value"], row["value"], one[0] - two[0], _normal_p(one, two), False)


def _key(row: dict[str, Any]) -> Key:
    return (row["language_pair"], row["system"], row["scorer"], row["perturbation"], row["level"], row["measure"])


def _moments(drawn: Resampled) -> tuple[float, float]:
    return drawn.value, drawn.estimate().sd


def _normal_p(old: tuple[float, float], new: tuple[float, float]) -> float:
    """P(Z ≤ z) for z = (new − old)/√(sd² + sd²)."""
    spread = sqrt(old[1] ** 2 + new[1] ** 2)
    if not spread:
        return 0.0 if new[0] < old[0] else 1.0
    return 0.5 * erfc((old[0] - new[0]) / spread / sqrt(2))
