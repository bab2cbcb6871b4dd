"""Who is attacked: any scorer, normalised over the data, or a translation system.

f̂ = (f − μ) / σ over all tuples (Huang 2023 §2.2; σ of the whole set, as in the authors' code), turned so that better is
up. A system has no score: it is judged by the agreement of its translation with that of the clean source.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from babelquake.attacks.requests import Agreement, Asking, Rendering
from babelquake.errors import UserError
from babelquake.scorers.base import Question


class Victim(Protocol):
    """Gives a number for every candidate text of one segment; higher is better."""

    def scores(self, texts: Sequence[str]) -> Asking[list[float]]:
        """Normalised scores, in order."""
        ...


@dataclass(frozen=True)
class Scale:
    """Mean and standard deviation of a scorer over the data; `sd` is negative where lower scores are better."""

    mean: float
    sd: float

    @classmethod
    def over(cls, scores: NDArray[np.float64], higher_is_better: bool, name: str) -> "Scale":
        """The scale of a scorer, the same to the last digit in any order of the scores; a constant one has none."""
        known = np.sort(scores[np.isfinite(scores)])
        if not len(known):
            raise UserError(
                f"{name} does not score any translation of the data, so there is nothing to attack. Score a few "
                "translations with it first, and read what it answers."
            )
        if not np.std(known) > 0:
            raise UserError(
                f"{name} gives every translation of the data the same score, so one standard deviation of it "
                "means nothing. Use data with several translations of different quality, and "
                "with references that are not blank."
            )
        return cls(float(np.mean(known)), float(np.std(known)) * (1 if higher_is_better else -1))

    def normalised(self, score: float) -> float:
        """f̂ of a raw score."""
        return (score - self.mean) / self.sd


@dataclass(frozen=True)
class ScorerVictim:
    """A metric, or a QE scorer where there are no references, judging translations of one segment."""

    scale: Scale
    references: tuple[str, ...] | None
    source: str | None

    def scores(self, texts: Sequence[str]) -> Asking[list[float]]:
        """f̂ of each text as a translation of this segment."""
        raw = yield [Question(text, self.references, self.source) for text in texts]
        return [self.scale.normalised(score) for score in raw]


@dataclass(frozen=True)
class SystemVictim:
    """A system translating one source; the score is chrF against the translation of the clean source."""

    clean: str
    """The source as it was."""

    def scores(self, texts: Sequence[str]) -> Asking[list[float]]:
        """chrF of each text's translation against the clean one's."""
        reference, *translations = yield [Rendering(text) for text in (self.clean, *texts)]
        scores: list[float] = yield [Agreement(translation, reference) for translation in translations]
        return scores
