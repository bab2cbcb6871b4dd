"""What a comparison of two runs says: every change, what was required, and a verdict made of them.

Every measure is worse, better or the same; has collapsed, where it could be tested in the old run and means nothing in
the new one; or cannot be tested, where it applies to too few segments. `Comparison.failures` is what a gate stops for.

A requirement is what a run must reach, whatever the run before it did: `quality[chrf] >= 50`, `robust >= 85`. It names
a measure, in brackets what it is of – a scorer, a perturbation, a system, a language pair, a kind of failure – and a
limit. Without a perturbation `quality` is that of clean translations and the other measures are the overall ones. It
holds for every system, scorer and language pair that it does not narrow down.
"""

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, overload

from babelquake.errors import GateError, UserError, did_you_mean, setting
from babelquake.perturb.labels import changed_by
from babelquake.runs.display import display
from babelquake.runs.findings import Finding, Number, Weight
from babelquake.runs.findings import Outcome as TestOutcome
from babelquake.runs.measures import CANNOT_BE_TESTED, NOT_SIGNIFICANT, SIGNIFICANT
from babelquake.runs.run import AnyRun, opened
from babelquake.spec import split_list

Row = dict[str, Any]
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
FORM = re.compile(
    r"\s*(?P<measure>[\w-]+)\s*(?:\[(?P<of>.+)\])?\s*(?P<how>>=|<=|>|<)\s*(?P<limit>[-+]?\d+(?:\.\d+)?)\s*"
)
NARROWED = ("scorer", "perturbation", "system", "language_pair", "group")


@dataclass(frozen=True)
class Answer:
    """A requirement, and whether the run meets it."""

    requirement: str
    met: bool
    text: str
    """The figures, in a sentence."""


@dataclass(frozen=True)
class Requirement:
    """A limit to a measure."""

    text: str
    measure: str
    of: tuple[str, ...]
    how: str
    limit: float

    @classmethod
    def parse(cls, text: str) -> "Requirement":
        """The requirement that a text such as `quality[chrf] >= 50` names."""
        found = FORM.fullmatch(text)
        if found is None:
            raise UserError(
                f"{setting('require', text)}: expected a measure, a comparison and a number, such as "
                "'quality[chrf] >= 50', 'robust >= 85' or 'failures[off-target] <= 0.5'."
            )
        of = tuple(split_list(found["of"])) if found["of"] else ()
        return cls(text.strip(), found["measure"], of, found["how"], float(found["limit"]))

    def check(self, rows: Sequence[Row], confident: bool = False) -> list[Answer]:
        """An answer for every figure it is about: by its value or, if `confident`, by an end of its interval."""
        about = self._about(rows)
        if not about:
            raise UserError(f"{setting('require', self.text)}: {self._lacking(rows)}")
        end = "low" if self.how in (">=", ">") else "high"
        return [self._answer(row, row[end] if confident else row["value"], confident) for row in about]

    def _about(self, rows: Iterable[Row]) -> list[Row]:
        """The figures that bear its name and have everything that it is of; overall ones unless a part is named."""
        found = [row for row in rows if row["other"] is None and self.measure in _names(row)]
        found = [row for row in found if all(_is_of(row, part) for part in self.of)]
        whole = [row for row in found if row["perturbation"] is None]
        named = any(_called(part, row["perturbation"]) for row in found for part in self.of)
        return found if named or not whole else whole

    def _lacking(self, rows: Iterable[Row]) -> str:
        """Why it is about nothing: the measure, or one of the parts that it names, is not in the run."""
        found = [row for row in rows if row["other"] is None]
        named = [row for row in found if self.measure in _names(row)]
        if not named:
            return (
                f"the run has no such measure. {did_you_mean(self.measure, {n: 0 for r in found for n in _names(r)})}"
            )
        parts = dict.fromkeys(str(row[name]) for name in NARROWED for row in named if row[name])
        wrong = next((part for part in self.of if not any(_is_of(row, part) for row in named)), "")
        return f"the run has no {self.measure} of {wrong or ' and '.join(self.of)}. {did_you_mean(wrong, parts)}"

    def _answer(self, row: Row, figure: float | None, confident: bool) -> Answer:
        where = " ".join(str(row[name]) for name in ("language_pair", "system", "scorer", "perturbation") if row[name])
        if figure is None:
            reason = row["note"] or "it is undefined."
            return Answer(self.text, False, f"Not met: {self.text} for {where}: {reason}")
        met = COMPARISONS[self.how](figure, self.limit)
        which = ("lower" if self.how in (">=", ">") else "upper") + " bound " if confident else ""
        return Answer(self.text, met, f"{'Met' if met else 'Not met'}: {self.text} for {where}: {which}{figure:.2f}.")


def require(run: AnyRun, limits: str | Sequence[str]) -> None:
    """Raise GateError where a run does not meet every limit, such as `robust >= 85` or `failures[number] <= 0.5`."""
    rows = opened(run)[0].measures.to_dicts()
    asked = [limits] if isinstance(limits, str) else limits
    answers = [answer for limit in asked for answer in Requirement.parse(limit).check(rows)]
    if missed := [answer.text for answer in answers if not answer.met]:
        raise GateError(" ".join(missed))


def _names(row: Row) -> tuple[str, ...]:
    """What a figure may be called: an overall one by its short name too, but `quality` is that of all clean texts."""
    name = row["measure"]
    if name.startswith("overall_") and name != "overall_quality":
        return name, name.removeprefix("overall_")
    return (name,)


def _is_of(row: Row, part: str) -> bool:
    return any(_called(part, row[name]) for name in NARROWED)


def _called(part: str, name: str | None) -> bool:
    """Whether a part is meant by a name, with or without its options."""
    return name is not None and part in (name, name.partition("[")[0])


Outcome = Literal["worse", "better", "same", "collapsed", "cannot be tested"]
RATES = ("failures", "failures_perturbed")
"""Shares of clean and of noisy translations; the scorer is the kind. What occurs in neither run is not spoken of."""
RELATIVE = ("robust", "consis", "delta", "overall_robust", "overall_consis", "overall_delta", "overall_hurt")
"""Measures that say nothing without the quality they are relative to."""


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
    new: float | None
    """None where the measure has collapsed."""
    outcome: Outcome
    p: float | None
    """Two-sided: how often chance alone makes a difference as large as this one."""
    p_corrected: float | None
    visible: float | None
    """The smallest difference that would have been significant; None where no segment differs."""
    paired: bool
    note: str | None = None
    """Why it cannot be tested, or how it has collapsed."""
    group: str | None = None
    """The part of the data, such as a severity or a year, or the kind of failure; None for all."""
    label: str = ""
    """What people call the measure."""

    @property
    def difference(self) -> float | None:
        """New minus old."""
        return None if self.new is None else self.new - self.old

    @property
    def regression(self) -> bool:
        """Whether a gate stops for it."""
        return self.outcome in ("worse", "collapsed")

    @property
    def testable(self) -> bool:
        """Whether a test could have found a difference."""
        return self.outcome in ("worse", "better", "same")

    @property
    def called(self) -> str:
        """The measure in the words that readers know."""
        return self.label or self.measure.replace("_", " ")

    def row(self) -> dict[str, Any]:
        """All there is to say, for other programs."""
        return {**asdict(self), "difference": self.difference, "regression": self.regression, "testable": self.testable}


@dataclass(frozen=True)
class Comparison(Sequence[Change]):
    """Every measure that both runs have, and what the new run was required to reach."""

    changes: tuple[Change, ...]
    alpha: float
    correction: str
    answers: tuple[Answer, ...] = ()
    only_old: tuple[str, ...] = ()
    """Perturbations, scorers and language pairs that the new run does not have."""
    names: tuple[str, str] = ("the old run", "the new run")
    """What the two runs are called."""
    useless: tuple[Finding, ...] = ()
    """Systems of the new run that translate no better than a copy or one sentence for everything."""

    @overload
    def __getitem__(self, place: int) -> Change: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Change]: ...
    def __getitem__(self, place: int | slice) -> Change | Sequence[Change]:
        return self.changes[place]

    def __iter__(self) -> Iterator[Change]:
        return iter(self.changes)

    def __len__(self) -> int:
        return len(self.changes)

    def __repr__(self) -> str:
        """What a notebook shows: the verdict."""
        return "\n".join(self.verdict)

    def of(self, *outcomes: Outcome) -> list[Change]:
        """The changes of some outcomes, the surest first, then the largest."""
        found = [change for change in self.changes if change.outcome in outcomes]

        def order(change: Change) -> tuple[float, float]:
            return 1.0 if change.p_corrected is None else change.p_corrected, -abs(change.difference or 0.0)

        return sorted(found, key=order)

    @property
    def failures(self) -> list[Finding]:
        """Why a gate must not let the new run pass; empty where it may."""
        return [finding for finding in self.findings if finding.weight == "alarm"]

    @property
    def verdict(self) -> list[str]:
        """What matters most first, in sentences: the findings in words."""
        return display().words(self.findings)

    @property
    def findings(self) -> list[Finding]:
        """What the comparison found, as data; alarms are what a gate stops for."""
        better = [change for change in self.of("better") if not self.hollow(change)]
        alarms = [
            *self._most("got_worse", self.of("worse"), "alarm"),
            *(_of_change("collapsed", change, "alarm") for change in _distinct(self.of("collapsed"))),
            *self._nothing_testable(),
            *(_required(answer) for answer in self.answers if not answer.met),
        ]
        useless = (finding.model_copy(update={"weight": "answer"}) for finding in self.useless)
        found = [*useless, *self._answer(better, bool(alarms)), *alarms, *self._most("got_better", better, "answer")]
        if hollow := len(self.of("better")) - len(better):
            found.append(Finding(what="hollow_gain", facts={"count": hollow}))
        found += [*_same(self.of("same")), *self._too_few()]
        if self.only_old:
            found.append(Finding(what="only_in_old", facts={"names": ", ".join(self.only_old)}))
        return [*found, *(_required(answer) for answer in self.answers if answer.met)]

    def _answer(self, better: list[Change], alarm: bool) -> Iterator[Finding]:
        """Better, worse or the same, in one sentence: what is said of all, and the largest change against it.

        Where something collapsed, cannot be tested or is not reached, the alarms are the answer.
        """
        worse = self.of("worse")
        if alarm and not worse:
            return
        sides = sorted(
            (side for side in (worse, better) if side), key=lambda side: _rank(_most_telling(side)) >= len(WHOLE)
        )
        if not sides:
            yield from self._no_difference()
            return
        lead, *against = [_most_telling(sides[0]), *map(_largest, sides[1:])]
        what = "partly_worse" if against else "only_worse" if worse else "nothing_worse"
        alike = [one for one in sides[0] if (one.measure, one.scorer) == (lead.measure, lead.scorer)]
        kinds = float(len({(one.perturbation, one.level) for one in alike}))
        side = {"side": lead.outcome, "kinds": kinds, "changed": self._changed, **self._runs}
        found = _of_change(what, lead, "answer")
        numbers = (*found.numbers, *map(_number_of, against))
        called = {"against": against[0].called} if against else {}
        answer = found.model_copy(update={"numbers": numbers, "facts": {**found.facts, **side, **called}})
        if lead.measure == "obeyed":
            yield from [*self._quality_same(lead.scorer), answer]
        else:
            yield from [answer, *self._quality_same(lead.scorer), *self._obedience()]

    def _obedience(self) -> Iterator[Finding]:
        """Who obeys instructions inside texts more often, or less, where the answer speaks of quality."""
        obeyed = [change for change in self.of("worse", "better", "same") if change.measure == "obeyed"]
        moved = [change for change in obeyed if change.outcome != "same"]
        for outcome in ("worse", "better"):
            if changed := [change for change in moved if change.outcome == outcome]:
                found = _of_change("obedience", _largest(changed), "answer")
                kinds = float(len({(one.perturbation, one.level) for one in changed}))
                side = {"side": outcome, "kinds": kinds, "new_run": self.names[1]}
                yield found.model_copy(update={"facts": {**found.facts, **side}})
        if not moved and (seen := [change for change in obeyed if change.difference]):
            yield _unchanged("obedience_same", _largest(seen), "answer")

    def _no_difference(self) -> Iterator[Finding]:
        """Speaks of quality where that was measured, or else of whatever could have been seen to differ."""
        same = self.of("same")
        seen = [change for change in same if change.visible is not None]
        quality = [change for change in same if change.measure in QUALITY]
        differing = [change for change in quality if change.difference]
        told = [one for one in quality if one in seen] or differing if quality else seen
        bare = Finding(what="no_difference", weight="answer")
        found = _unchanged("no_difference", _most_telling(told), "answer") if told else bare
        yield found.model_copy(update={"facts": {**found.facts, **self._runs}})
        yield from self._obedience()

    @property
    def _runs(self) -> dict[str, str]:
        return {"old_run": self.names[0], "new_run": self.names[1]}

    @property
    def _changed(self) -> str:
        """What the perturbations of both runs change, for words that say where quality was measured."""
        return changed_by(dict.fromkeys(one.perturbation for one in self.changes if one.perturbation))

    def _quality_same(self, scorer: str | None) -> Iterator[Finding]:
        """That clean or overall quality did not change is worth a sentence where something else did.

        By the scorer that the answer speaks of, where it says so.
        """
        for measure in reversed(QUALITY):
            same = [one for one in self.of("same") if one.measure == measure and (one.difference or one.visible)]
            if same and not any(one.measure == measure for one in self.of("worse", "better")):
                yield _unchanged("quality_same", min(same, key=lambda one: one.scorer != scorer), "detail")

    def hollow(self, change: Change) -> bool:
        """Whether a gain is relative to a quality that got worse: a system that always says the same is consistent."""
        if change.outcome != "better" or change.measure not in RELATIVE:
            return False
        own = (change.language_pair, change.system, change.scorer)
        worse = (other for other in self.changes if other.outcome == "worse" and "quality" in other.measure)
        return any((other.language_pair, other.system, other.scorer) == own for other in worse)

    def _most(self, what: str, changes: Sequence[Change], weight: Weight) -> Iterator[Finding]:
        """The change to speak of, of so many of all."""
        if changes:
            counted = {"count": len(changes), "of": len(self)}
            yield _of_change(what, _most_telling(changes), weight, counted)

    def _nothing_testable(self) -> Iterator[Finding]:
        if not any(change.testable for change in self.changes):
            reason = next((change.note for change in self.changes if change.note), None)
            why = {"why": reason or "no segment is in both runs."}
            yield Finding(what="nothing_testable", weight="alarm", facts={**why})

    def _too_few(self) -> Iterator[Finding]:
        untested = self.of("cannot be tested")
        if untested and any(change.testable for change in self.changes):
            yield Finding(what="too_few_in_both", numbers=tuple(map(_number_of, untested)))


def _number_of(change: Change) -> Number:
    """A change as a number that a finding rests on: its value is the difference."""
    outcomes: dict[str, TestOutcome] = {"worse": SIGNIFICANT, "better": SIGNIFICANT, "same": NOT_SIGNIFICANT}
    return Number(
        measure=change.measure,
        value=change.difference,
        p=change.p_corrected,
        outcome=outcomes.get(change.outcome, CANNOT_BE_TESTED),
        level=change.level,
        **{name: getattr(change, name) for name in NARROWED},
    )


def _of_change(what: str, change: Change, weight: Weight, counts: dict[str, int] | None = None) -> Finding:
    """A finding about one change: before, after, and the test of the difference."""
    number = _number_of(change)
    facts: dict[str, float | str] = {"old": change.old, "called": change.called, **(counts or {})}
    facts |= {} if change.new is None else {"new": change.new}
    return Finding(
        what=what,
        weight=weight,
        who=change.system,
        scorer=None if change.measure in RATES else change.scorer,
        language_pair=change.language_pair,
        perturbation=change.perturbation,
        level=change.level,
        numbers=(number,),
        test=number,
        facts=facts | ({"note": change.note} if change.note else {}),
    )


def _unchanged(what: str, change: Change, weight: Weight) -> Finding:
    """A finding about one change that is not significant, with what would have been."""
    found = _of_change(what, change, weight)
    visible = {} if change.visible is None else {"visible": change.visible}
    return found.model_copy(update={"facts": {**found.facts, **visible}})


def _required(answer: Answer) -> Finding:
    return Finding(
        what="requirement", weight="detail" if answer.met else "alarm", facts={"text": answer.text, "met": answer.met}
    )


QUALITY = ("quality", "overall_quality_perturbed")
"""The quality of all clean texts, and under everything that was perturbed."""
WHOLE = (*QUALITY, "obeyed")
TELLING = (*WHOLE, "quality_perturbed", "overall_robust", "overall_consis")
"""Measures in the order in which they are spoken of: all before a part, quality before what is relative to it.

Whether a system obeys what it should translate comes next after quality, and is said whatever came of that.
"""


def _rank(change: Change) -> int:
    return TELLING.index(change.measure) if change.measure in TELLING else len(TELLING)


def _most_telling(changes: Sequence[Change]) -> Change:
    """What is said of all before what is said of a perturbation; quality before what is relative to it."""
    first = min(changes, key=_rank)
    return _largest([change for change in changes if change.measure == first.measure])


def _largest(changes: Sequence[Change]) -> Change:
    """The largest change of the most telling measure, perturbation by perturbation where there are such changes."""
    parts = [change for change in changes if change.perturbation is not None] or list(changes)
    rank = min(map(_rank, parts))
    return max((one for one in parts if _rank(one) == rank), key=lambda change: abs(change.difference or 0.0))


def _distinct(changes: Iterable[Change]) -> list[Change]:
    """One collapse of every measure and scorer: that of the whole suite where there is one."""
    found: dict[tuple[str | None, ...], Change] = {}
    for change in sorted(changes, key=lambda change: change.perturbation is not None):
        key = (change.measure.removeprefix("overall_"), change.scorer, change.language_pair, change.system)
        found.setdefault(key, change)
    return list(found.values())


def _same(changes: Sequence[Change]) -> Iterator[Finding]:
    """How many are the same, how many differ at all, and of how many it is known what would have been seen."""
    if changes:
        differ = sum(bool(one.difference) for one in changes)
        visible = sum(one.visible is not None for one in changes)
        facts: dict[str, float | str] = {"count": len(changes), "differ": differ, "visible": visible}
        if len(changes) == 1 and changes[0].visible is not None:
            facts["detectable"] = changes[0].visible
        yield Finding(what="same", facts=facts)
