"""What a run must reach, whatever the run before it did: `quality[chrf] >= 50`, `robust >= 85`.

A requirement names a measure, in brackets what it is of – a scorer, a perturbation, a system, a language pair, a kind
of failure – and a limit. Without a perturbation `quality` is that of clean translations and the other measures are the
overall ones. It holds for every system, scorer and language pair that it does not narrow down.
"""

import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from babelquake.errors import GateError, UserError, did_you_mean, setting
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


def require_of(rows: Sequence[Row], limits: Iterable[str]) -> None:
    """Stop with a GateError where a run's measures do not meet every limit."""
    answers = [answer for limit in limits for answer in Requirement.parse(limit).check(rows)]
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
