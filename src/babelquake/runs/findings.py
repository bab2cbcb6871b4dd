"""A verdict is data: typed findings, made by a study, stored in `run.json`, put into words in one place (`report`).

A finding names what was found, of whom, the numbers it rests on, and the test that decides. Whoever reads it need not
read English, and no sentence can claim more than its numbers carry.
"""

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from babelquake.runs.measures import CANNOT_BE_TESTED, NOT_SIGNIFICANT, SIGNIFICANT

Outcome = Literal["significant", "not significant", "cannot be tested", "not tested"]
"""What a test says; `not tested` where none was made."""
Weight = Literal["alarm", "answer", "detail"]
"""An alarm comes first and in red, the answer to the study's question next, details after it."""
NOT_TESTED = "not tested"
ORDER: tuple[Weight, ...] = ("alarm", "answer", "detail")


class Number(BaseModel):
    """A number that a finding rests on: a row of the run's measures, without what does not apply."""

    model_config = ConfigDict(frozen=True)

    measure: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    """The p-value that counts: corrected for several tests where that was done."""
    outcome: Outcome = "not tested"
    n: int | None = None
    changed: int | None = None
    language_pair: str | None = None
    system: str | None = None
    scorer: str | None = None
    other: str | None = None
    perturbation: str | None = None
    level: float | None = None
    group: str | None = None

    @classmethod
    def of(cls, row: dict[str, Any]) -> "Number":
        """A row of measures."""
        given = {name: row[name] for name in cls.model_fields if name in row}
        p = row["p_corrected"] if row["p_corrected"] is not None else row["p"]
        return cls(**given | {"p": p, "outcome": row["verdict"] or NOT_TESTED})

    @property
    def known(self) -> float:
        """Its value, where it has one."""
        if self.value is None:
            raise ValueError(f"{self.measure} has no value")
        return self.value

    @property
    def significant(self) -> bool:
        """Whether its test came out."""
        return self.outcome == SIGNIFICANT

    @property
    def tested(self) -> bool:
        """Whether a test could decide, either way."""
        return self.outcome in (SIGNIFICANT, NOT_SIGNIFICANT)

    @property
    def untestable(self) -> bool:
        """Whether a test was asked for and could not decide."""
        return self.outcome == CANNOT_BE_TESTED


class Finding(BaseModel):
    """One thing that a run found."""

    model_config = ConfigDict(frozen=True)

    what: str
    """Its kind, such as `loss` or `best_under_noise`; `report` has the words for each."""
    weight: Weight = "detail"
    who: str | None = None
    """The system or scorer it is about."""
    scorer: str | None = None
    """Who judged, where systems are under test."""
    language_pair: str | None = None
    perturbation: str | None = None
    level: float | None = None
    numbers: tuple[Number, ...] = ()
    """What it rests on, the most important first."""
    test: Number | None = None
    """The number whose test decides it; None where nothing was tested."""
    facts: dict[str, float | str] = Field(default_factory=dict)
    """What else its words need: counts, thresholds, titles."""

    @classmethod
    def on(
        cls, what: str, *rows: dict[str, Any] | None, of: str = "scorer", test: Any = None, **more: Any
    ) -> "Finding":
        """A finding that rests on rows of measures, as far as there are any, and on the one with its `test`.

        The first one says whom it is about (`of`), where, and of systems also who judged.
        """
        there = [row for row in rows if row is not None]
        known = ("language_pair", "perturbation", "level", *(["scorer"] if of == "system" else []))
        said: dict[str, Any] = {name: there[0][name] for name in known}
        said |= {"who": there[0][of], "numbers": tuple(map(Number.of, there)), **more}
        return cls(what=what, test=Number.of(test) if isinstance(test, dict) else test, **said)

    @property
    def outcome(self) -> Outcome:
        """What its test says."""
        return self.test.outcome if self.test is not None else "not tested"

    def of(self, measure: str) -> list[Number]:
        """Its numbers of one measure."""
        return [number for number in self.numbers if number.measure == measure]


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Alarms first, then answers, then details."""
    return sorted(findings, key=lambda finding: ORDER.index(finding.weight))
