"""What a comparison of two runs says: every change, what was required, and a verdict made of them.

Every measure is worse, better or the same; has collapsed, where it could be tested in the old run and means nothing in
the new one; or cannot be tested, where it applies to too few segments. `Comparison.failures` is what a gate stops for.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, overload

from babelquake.stats.pvalues import p_words
from babelquake.studies.requirement import Answer

Outcome = Literal["worse", "better", "same", "collapsed", "cannot be tested"]
WORDS = {
    "quality": "clean quality",
    "quality_perturbed": "quality under noise",
    "robust": "ROBUST",
    "consis": "CONSIS",
    "delta": "Δ",
    "overall_quality_perturbed": "overall quality under noise",
    "overall_robust": "overall ROBUST",
    "overall_consis": "overall CONSIS",
    "overall_delta": "overall Δ",
    "darr": "DARR",
}
"""Measures as readers know them; the others by their names."""
RELATIVE = ("robust", "consis", "delta", "overall_robust", "overall_consis", "overall_delta")
"""Measures that say nothing without the quality they are relative to."""
NAMED = 5
"""Perturbations that are named before the rest is counted."""


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
        return WORDS.get(self.measure, self.measure.replace("_", " "))

    @property
    def where(self) -> str:
        """What it is of, beside the scorer."""
        level = "" if self.level is None else f"{self.level:g}"
        parts = (self.language_pair, self.system, self.perturbation, level, self.group)
        return " ".join(str(part) for part in parts if part)

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
    """Perturbations and scorers that the new run does not have."""

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

    def of(self, *outcomes: Outcome) -> list[Change]:
        """The changes of some outcomes, the surest first, then the largest."""
        found = [change for change in self.changes if change.outcome in outcomes]
        return sorted(found, key=lambda change: (_p(change), -abs(change.difference or 0.0)))

    @property
    def failures(self) -> list[str]:
        """Why a gate must not let the new run pass; empty where it may."""
        return [
            *([self._told("Worse", worse)] if (worse := self.of("worse")) else []),
            *self._collapsed(),
            *([self._untestable()] if not any(change.testable for change in self.changes) else []),
            *(answer.text for answer in self.answers if not answer.met),
        ]

    @property
    def verdict(self) -> list[str]:
        """What matters most first, in sentences: the same for the terminal, Markdown, JSON and Python."""
        sentences, better = self.failures, [change for change in self.of("better") if not self._hollow(change)]
        if not sentences:
            sentences = ["Better, and nothing got worse." if better else "No significant difference."]
        if better:
            sentences.append(self._told("Better", better))
        if hollow := len(self.of("better")) - len(better):
            sentences.append(f"ROBUST and CONSIS rose in {hollow} measures, relative to a quality that fell.")
        if same := self.of("same"):
            sentences.append(_same(same))
        if (untested := self.of("cannot be tested")) and any(change.testable for change in self.changes):
            names = dict.fromkeys(change.perturbation or change.called for change in untested)
            sentences.append(f"Too few segments to be tested: {_listed(list(names))}.")
        if self.only_old:
            sentences.append(f"Not in the new run: {_listed(self.only_old)}.")
        return sentences + [answer.text for answer in self.answers if answer.met]

    def _hollow(self, change: Change) -> bool:
        """Whether a gain is relative to a quality that got worse: a system that always says the same is consistent."""
        if change.measure not in RELATIVE:
            return False
        own = (change.language_pair, change.system, change.scorer)
        worse = (other for other in self.changes if other.outcome == "worse" and "quality" in other.measure)
        return any((other.language_pair, other.system, other.scorer) == own for other in worse)

    def _told(self, word: str, changes: Sequence[Change]) -> str:
        first = _most_telling(changes)
        count = f"{len(changes)} of {len(self)} measures" if len(self) > 1 else "the one measure there is"
        by = f" by {first.scorer}" if first.scorer else ""
        of = f" of {first.where}" if first.where else ""
        tested = "" if first.p_corrected is None else f", {p_words(first.p_corrected)}"
        change = f"{_number(first.old)} to {_number(first.new)} ({_number(first.difference, sign=True)}{tested})"
        return f"{word}: {count}, above all {first.called}{by}{of}, {change}."

    def _collapsed(self) -> list[str]:
        return [
            f"Collapsed: {change.called}{f' by {change.scorer}' if change.scorer else ''} of {change.where} was "
            f"{_number(change.old)} and is undefined now. {change.note or ''}".strip()
            for change in _distinct(self.of("collapsed"))
        ]

    def _untestable(self) -> str:
        reason = next((change.note for change in self.changes if change.note), None)
        return f"Nothing can be tested: {reason or 'no segment is in both runs.'} Use more segments."


def _most_telling(changes: Sequence[Change]) -> Change:
    """What is said of all before what is said of a perturbation; quality before what is relative to it."""
    order = ("quality", "overall_quality_perturbed", "overall_robust", "overall_consis")
    return min(changes, key=lambda change: order.index(change.measure) if change.measure in order else len(order))


def _distinct(changes: Iterable[Change]) -> list[Change]:
    """One collapse of every measure and scorer: that of the whole suite where there is one."""
    found: dict[tuple[str | None, ...], Change] = {}
    for change in sorted(changes, key=lambda change: change.perturbation is not None):
        key = (change.measure.removeprefix("overall_"), change.scorer, change.language_pair, change.system)
        found.setdefault(key, change)
    return list(found.values())


def _same(changes: Sequence[Change]) -> str:
    """How many are the same, and what difference could have been seen."""
    count = "1 measure is" if len(changes) == 1 else f"{len(changes)} measures are"
    seen = {change.visible: change for change in changes if change.visible is not None}
    if not seen:
        return f"{count} the same in both runs, segment by segment."
    least, most = min(seen), max(seen)
    if len(seen) == 1:
        return f"Same: {count} not significantly different; {_number(most)} would have been."
    return (
        f"Same: {count} not significantly different. The smallest difference that could have been seen is "
        f"{_number(least)} for {seen[least].called} and {_number(most)} for {_place(seen[most])}."
    )


def _place(change: Change) -> str:
    return f"{change.called} under {change.perturbation}" if change.perturbation else change.called


def _listed(names: Sequence[str]) -> str:
    shown = list(names[:NAMED])
    return ", ".join(shown) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def _number(value: float | None, sign: bool = False) -> str:
    if value is None:
        return "–"
    digits = 2 if abs(value) >= 1 or not value else 3
    return f"{value:{'+' if sign else ''}.{digits}f}".replace("-", "−")


def _p(change: Change) -> float:
    return 1.0 if change.p_corrected is None else change.p_corrected
