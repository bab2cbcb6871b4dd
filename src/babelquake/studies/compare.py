"""Is the new run worse or better than the old one? What `babelquake compare` asks, for every kind of run.

Where both runs judged the same segments, the difference new − old is tested in pairs, from the stored statistics, as
every other difference is; otherwise by the normal approximation z = (new − old)/√(sd² + sd²) on stored values. Tests
are two-sided, and all of a comparison are one family under step-down max-T: α is about the whole comparison, whatever
the number of scorers, language pairs and measures (`bench/gate.py` has what simulations found).

`differences` says whether a run that was made again has the same numbers, and if not, what else is different.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

from babelquake.errors import UserError, one_of, setting
from babelquake.languages import LanguagePair
from babelquake.runs.measures import NAMES
from babelquake.runs.run import AnyRun, Run, opened, run_names
from babelquake.scorers import scorer as scorer_of
from babelquake.stats.families import Outcome as Judged
from babelquake.stats.families import corrected
from babelquake.stats.pvalues import benjamini_hochberg
from babelquake.stats.resampling import least_draws
from babelquake.stats.testing import Test, normal_test
from babelquake.studies.card import STUDIES, Study, findings_of
from babelquake.studies.cells import LEAST_CHANGED, Cell, Place, gains, paired_test
from babelquake.studies.comparison import RATES, Change, Comparison, Outcome, Requirement

Correction = Literal["max-t", "bh", "none"]
RESAMPLES = 2000
"""For runs that do not say how many they had."""
FEW = 500
"""Differing segments below which two runs are compared by arrangements: where nothing changed, which of the two runs a
translation is from is chance. Where cells have kept their tables whole segments change sides, which is exact; elsewhere
what they contribute changes its sign. The bootstrap's false alarms are too many at 100 segments."""
STANDS_IN = {"robust": "delta", "overall_robust": "overall_delta"}
"""What is tested where a ratio means nothing in either run."""
USELESS = ("near_baseline", "no_translation")
"""Findings about systems that do not translate."""
POINTS = "overall_quality_perturbed"
"""By how many points more translations made worse count as a fall: those that quality under noise lost by it."""


class Compared(NamedTuple):
    """One measure in two runs before the correction for several tests."""

    place: Place
    measure: str
    old: float
    new: float | None
    test: Test | None
    """Of what it gained, in the direction that is better; None where it has collapsed."""
    paired: bool
    note: str | None = None


def compare(
    old: AnyRun,
    new: AnyRun,
    *,
    alpha: float = 0.05,
    min_drop: float = 0.0,
    correction: Correction = "max-t",
    require: str | Sequence[str] = (),
    confident: bool = False,
    seed: int = 0,
) -> Comparison:
    """Every gated measure that both runs have: worse, better or the same; and whether the new run meets `require`.

    Falls of up to `min_drop` points count as the same. Requirements such as `quality[chrf] >= 50` are met by the
    figure itself or, if `confident`, by the nearer end of its 95 % interval.
    """
    one_of("correction", correction, Correction)
    if not 0 < alpha < 1:
        raise UserError(f"{setting('alpha', alpha)}: expected a number between 0 and 1, such as 0.05.")
    requirements = [Requirement.parse(text) for text in ([require] if isinstance(require, str) else require)]
    old, new = opened([old, new])
    study = _study_of(old, new)
    named = _same_languages(old, new)
    found = list(_paired(study, old, new, alpha, seed, named))
    known = {(one.place, one.measure) for one in found}
    found += [one for one in _stored(study, old, new, alpha, named) if (one.place, one.measure) not in known]
    if not found:
        raise UserError(
            f"{old.folder} and {new.folder} have no measure in common. Use the same suite, scorers and data."
            f"{_other_languages(old, new, named)}"
        )
    rows, names = new.measures.to_dicts(), run_names([old, new])
    changes = judge(found, alpha=alpha, min_drop=min_drop, correction=correction)
    return Comparison(
        tuple(replace(change, label=study.label(change.measure)) for change in changes),
        alpha,
        correction,
        tuple(answer for requirement in requirements for answer in requirement.check(rows, confident)),
        _only_old(old, new),
        (names[0], names[1]),
        tuple(finding for finding in findings_of(new) if finding.what in USELESS),
    )


def _study_of(old: Run, new: Run) -> Study:
    """The study of both runs; runs that mean different things are refused."""
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
    return study


def judge(
    found: Sequence[Compared], *, alpha: float = 0.05, min_drop: float = 0.0, correction: Correction = "max-t"
) -> Iterator[Change]:
    """Every change with its outcome, corrected over all of them."""
    tests = [one.test for one in found if one.test is not None]
    points = {one.place: one.test.value for one in found if one.measure == POINTS and one.test is not None}
    judged = iter(_corrected(tests, alpha, correction))
    for one in found:
        said = next(judged) if one.test is not None else Judged(None, None, False, one.note)
        yield Change(
            **one.place.columns,
            measure=one.measure,
            old=one.old,
            new=one.new,
            outcome=_outcome(one, said, alpha, min_drop, points),
            p=said.p,
            p_corrected=said.p_corrected,
            visible=said.visible,
            paired=one.paired,
            note=said.reason,
        )


def _outcome(one: Compared, judged: Judged, alpha: float, min_drop: float, points: Mapping[Place, float]) -> Outcome:
    if one.test is None:
        return "collapsed"
    if not judged.testable or judged.p_corrected is None:
        return "cannot be tested"
    if judged.p_corrected >= alpha or one.test.value == 0:
        return "same"
    if one.test.value > 0:
        return "better"
    share = min_drop and one.measure == "overall_hurt"
    fall = points.get(one.place, one.test.value) if share else one.test.value
    return "worse" if fall < -min_drop else "same"


def _corrected(tests: Sequence[Test], alpha: float, correction: Correction) -> list[Judged]:
    """The outcome of every test within the one family or, if so asked, by Benjamini–Hochberg or alone."""
    if correction == "max-t":
        return corrected(tests, alpha)
    alone = [corrected([test], alpha)[0] for test in tests]
    if correction == "none":
        return alone
    adjusted = benjamini_hochberg([outcome.p if outcome.testable else None for outcome in alone])
    return [
        Judged(outcome.p, float(p) if outcome.testable else None, outcome.testable, outcome.reason)
        for outcome, p in zip(alone, adjusted, strict=True)
    ]


def _language_pairs(run: Run) -> list[str]:
    """The language pairs that a run has measures of."""
    return run.measures["language_pair"].drop_nulls().unique(maintain_order=True).to_list()


def _same_languages(old: Run, new: Run) -> dict[str, str]:
    """Language pairs of the old run as the new one calls them: `de-DE-en` and `de-en` are the same for a comparison."""
    befores, afters = _language_pairs(old), _language_pairs(new)
    left = {pair: LanguagePair.known(pair) for pair in befores if pair not in afters}
    there = {pair: LanguagePair.known(pair) for pair in afters if pair not in befores}
    named = {}
    for pair, known in left.items():
        same = [name for name, other in there.items() if known and other and known.codes == other.codes]
        alike = [name for name, other in left.items() if known and other and known.codes == other.codes]
        if len(same) == len(alike) == 1:
            named[pair] = same[0]
    return named


def _other_languages(old: Run, new: Run, named: Mapping[str, str]) -> str:
    """A sentence where two runs have no language pair in common."""
    befores, afters = _language_pairs(old), _language_pairs(new)
    if not befores or not afters or {named.get(pair, pair) for pair in befores} & set(afters):
        return ""
    return f" The language pairs differ: {', '.join(befores)} in {old.folder}, {', '.join(afters)} in {new.folder}."


def _paired(study: Study, old: Run, new: Run, alpha: float, seed: int, named: Mapping[str, str]) -> Iterator[Compared]:
    """Cells of equal scorer, perturbation and level on the same segments; systems by name, or the only ones."""
    draws = max(int(run.info.number("resamples", RESAMPLES)) for run in (old, new))
    befores, afters = (stored_cells(study, run, max(draws, least_draws(alpha)), seed) for run in (old, new))
    for cell in befores:
        pair = cell.place.language_pair
        cell.place = replace(cell.place, language_pair=named.get(pair or "", pair))
    for one in compared_cells(study, befores, afters, seed):
        if study.counts(new, one.measure, one.place.perturbation):
            yield one


def compared_cells(study: Study, befores: Sequence[Cell], afters: Sequence[Cell], seed: int = 0) -> Iterator[Compared]:
    """The gated numbers of an old and a new run's cells, each with its test."""
    pairs = list(_matched(befores, afters))
    arranged = gains(pairs, study.overall, seed)
    down = {kind.name for kind in study.measures if kind.better == "down"}
    for before, after in (*pairs, *study.overall(pairs)):
        for name in _names(before, after, study.gated):
            one = before.numbers[name].value
            if name in RATES and name in after.numbers and not one and not after.numbers[name].value:
                continue
            if name in after.numbers:
                gained, sign = ((before, after), -1) if name in down else ((after, before), 1)
                moved = arranged.get((after.place, name))
                moved = None if moved is None else sign * moved
                test = paired_test(*gained, name, seed=seed, few=FEW, arranged=moved, alike=True)
                yield Compared(after.place, name, one, after.numbers[name].value, test, True)
            else:
                yield Compared(after.place, name, one, None, None, True, after.notes.get(name))


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
    """The gated numbers that both cells have, or that only the old one has though it is large enough: a collapse.

    Where a ratio means nothing in the old run, or in a small cell of the new one, what stands in for it is taken.
    """
    both = before.numbers.keys() & after.numbers.keys()
    collapsed = before.numbers.keys() - both if before.large_enough else set()
    wanted = [name if name in both | collapsed else STANDS_IN.get(name, name) for name in gated]
    return [name for name in dict.fromkeys(wanted) if name in both | collapsed]


def _matched(befores: Sequence[Cell], afters: Sequence[Cell]) -> Iterator[tuple[Cell, Cell]]:
    """Cells of one question on the same segments, in the order of the new run."""
    alone = all(len({cell.place.system for cell in cells}) == 1 for cells in (befores, afters))
    known = {(cell.place.question, None if alone else cell.place.system): cell for cell in befores}
    for after in afters:
        before = known.get((after.place.question, None if alone else after.place.system))
        if before is not None and not after.place.only_changed and np.array_equal(before.keys, after.keys):
            yield before, after


def _stored(study: Study, old: Run, new: Run, alpha: float, named: Mapping[str, str]) -> Iterator[Compared]:
    """Stored values with their standard deviations, for runs on other segments."""
    befores, afters = (
        [study.placed(run, row) for row in run.measures.iter_rows(named=True) if _counts(study, new, row)]
        for run in (old, new)
    )
    for row in befores:
        row["language_pair"] = named.get(row["language_pair"] or "", row["language_pair"])
    alone = all(len({row["system"] for row in rows if row["system"]}) <= 1 for rows in (befores, afters))
    known = {(row["measure"], _place(row, alone)): row for row in befores if row["value"] is not None}
    for row in afters:
        former = known.get((row["measure"], _place(row, alone)))
        if former is None or (row["measure"] in RATES and not row["value"] and not former["value"]):
            continue
        if row["value"] is not None:
            sign = -1 if row["better"] == "down" else 1
            before, after = ((sign * side["value"], side["sd"]) for side in (former, row))
            test = normal_test(before, after, min(former["n"], row["n"]), alpha)
            yield Compared(_place(row), row["measure"], former["value"], row["value"], test, False)
        elif (former["n"] if former["changed"] is None else former["changed"]) >= LEAST_CHANGED:
            yield Compared(_place(row), row["measure"], former["value"], None, None, False, row["note"])


def _counts(study: Study, run: Run, row: dict[str, Any]) -> bool:
    gated = row["measure"] in study.gated and study.counts(run, row["measure"], row["perturbation"])
    of_all = row["measure"] in RATES and row["system"] is None and run.measures["system"].drop_nulls().len() > 0
    return gated and row["other"] is None and not of_all


def _place(row: dict[str, Any], alone: bool = False) -> Place:
    names = ("language_pair", "scorer", "perturbation", "level", "group")
    return Place(**{name: row[name] for name in names}, system=None if alone else row["system"])


def _only_old(old: Run, new: Run) -> tuple[str, ...]:
    """Scorers, perturbations and language pairs that the new run lacks."""
    named = _same_languages(old, new)
    lacking = [pair for pair in _language_pairs(old) if named.get(pair, pair) not in _language_pairs(new)]
    for column in ("scorer", "perturbation"):
        before, after = (run.measures[column].drop_nulls().unique(maintain_order=True) for run in (old, new))
        lacking += [name for name in before if name not in set(after)]
    return tuple(lacking)


CLOCK = "milliseconds"
"""A measure that no two runs agree in."""
NUMBERS = ("value", "sd", "low", "high", "p", "p_corrected", "n")


@dataclass(frozen=True)
class Differences:
    """What differs between a run and its repetition."""

    measures: int
    """How many measures were compared."""
    numbers: tuple[str, ...]
    """Measures whose numbers differ, or that only one of the runs has, in words."""
    causes: tuple[str, ...]
    """Versions, signatures and data that differ."""

    @property
    def same(self) -> bool:
        """Whether every number is the same."""
        return not self.numbers


def differences(old: Run, new: Run) -> Differences:
    """Compare all measures, to the last digit, and everything they were made with."""
    first, second = (_by_name(run.measures) for run in (old, new))
    told = []
    for name in dict.fromkeys([*first, *second]):
        if name not in first or name not in second:
            told.append(f"{name}: only in {old.folder if name in first else new.folder}")
            continue
        for number in NUMBERS:
            before, after = first[name].get(number), second[name].get(number)
            if before != after:
                told.append(f"{name}: {number} was {before}, is {after}")
    return Differences(len(first), tuple(told), tuple(_causes(old, new)))


def _by_name(measures: pl.DataFrame) -> dict[str, dict[str, float | None]]:
    """Numbers of each measure under the name of what it is of."""
    found: dict[str, dict[str, float | None]] = {}
    for row in measures.filter(pl.col("measure") != CLOCK).iter_rows(named=True):
        name = " ".join(str(row[column]) for column in NAMES if row[column] is not None)
        while name in found:
            name += " again"
        found[name] = {number: row.get(number) for number in NUMBERS}
    return found


def _causes(old: Run, new: Run) -> list[str]:
    before, after = (
        {f"version of {name}": said for name, said in sorted(run.info.versions.items())}
        | {f"signature of {name}": said for name, said in sorted(run.info.signatures.items())}
        | {"data": str(run.info.config.get("data"))}
        for run in (old, new)
    )
    differ = [what for what in dict.fromkeys([*before, *after]) if before.get(what) != after.get(what)]
    return [f"{what}: {before.get(what, 'none')} then, {after.get(what, 'none')} now" for what in differ]
