"""What an attack wants of its victim.

Scores are normalised over the data, f̂ = (f − μ) / σ with better up (Huang 2023 §2.2), so that one threshold fits every
metric. A goal says how far a candidate has come (`gain`) and when that is far enough (`met`).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from babelquake.spec import Range, Spec, make

Deviations = Annotated[float, Range(0, 1000)]
"""A threshold in standard deviations of the victim."""


@dataclass(frozen=True)
class Goal(ABC):
    """One of the failures that are searched for."""

    name: ClassVar[str]
    on_system: ClassVar[bool] = False
    """Whether the victim is a translation system and the attacked text its source."""
    strict: ClassVar[bool] = False
    """Whether the recipes' larger search serves it (Appendix B)."""
    fluent: ClassVar[bool] = True
    """Whether the paper limits the rise in perplexity for it."""
    keeps_quality: ClassVar[bool] = False
    """Whether another metric must not find the text better."""

    def gain(self, original: float, score: float) -> float:
        """How far a candidate has come, which searches maximise: the fall of the score."""
        return original - score

    @abstractmethod
    def met(self, gain: float) -> bool:
        """Whether that is far enough."""

    @property
    def signature(self) -> str:
        """The goal with its thresholds."""
        inside = ",".join(f"{key}={value}" for key, value in vars(self).items())
        return f"{self.name}[{inside}]" if inside else self.name


@dataclass(frozen=True)
class Overpenalise(Goal):
    """The score falls by more than `by` standard deviations: f̂(x) − f̂(x′) > 1 (§2.2)."""

    name = "overpenalise"
    by: Deviations = 1.0

    def met(self, gain: float) -> bool:
        """Strictly more than `by`."""
        return gain > self.by


@dataclass(frozen=True)
class Inflate(Overpenalise):
    """The score rises by more than `by` standard deviations, and another metric's does not: the opposite failure."""

    name = "inflate"
    fluent = False
    keeps_quality = True

    def gain(self, original: float, score: float) -> float:
        """The rise of the score."""
        return score - original


@dataclass(frozen=True)
class Inconsistent(Overpenalise):
    """f̂(x, ref) − f̂(x′, ref) > `by` while f̂(x, x) − f̂(x′, x) < `within` (§2.2).

    Victims that tell translation and reference apart are no distance of two texts: the second difference is then
    measured with ½[f(x, x′) + f(x′, x)] (Appendix C). `similarity=plain` or `symmetric` says so for all of them. The
    paper limits the rise in perplexity for over-penalisation and does not say whether it does so here too: nothing
    limits it unless a constraint is named.
    """

    name = "inconsistent"
    strict = True
    fluent = False
    by: Deviations = 0.4
    within: Deviations = 0.3
    similarity: Literal["auto", "plain", "symmetric"] = "auto"


@dataclass(frozen=True)
class Collapse(Goal):
    """The translation of the changed source has less than `below` chrF against the translation of the clean one.

    The score is the agreement with the clean translation: 100 chrF for the clean source itself.
    """

    name = "collapse"
    on_system = True
    fluent = False
    below: Annotated[float, Range(0, 100)] = 75.0

    def met(self, gain: float) -> bool:
        """Strictly below `below`."""
        return gain > 100.0 - self.below


GOALS: dict[str, type[Goal]] = {kind.name: kind for kind in (Overpenalise, Inconsistent, Inflate, Collapse)}


def goal(text: str | Spec | Goal) -> Goal:
    """A goal by name with options: `overpenalise[by=0.5]`."""
    return text if isinstance(text, Goal) else make(text, GOALS, "goal")
