"""What the study of challenge sets can be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from babelquake.studies.options import BY, SCORER, StudyOptions, Words, option

if TYPE_CHECKING:
    from babelquake.studies.resolve import Scorers


@dataclass(frozen=True, kw_only=True)
class ChallengeOptions(StudyOptions):
    """Measure whether metrics rank the better translations of a challenge set above the worse ones.

    Example: babelquake challenge score -d 1-submitted/condrift --returned 4-to_return/condrift --out runs/condrift
    """

    returned: Words = option(
        (), "Folder of returned scores: METRIC.tsv, or primary/METRIC.tsv and so on.", metavar="DIR"
    )
    scorers: Scorers = option((), SCORER)
    order: Words = option(
        (),
        "Hypotheses, best first, as in hyp-3,hyp-2; those not named are worse. Default: what the set says, "
        "else hyp-1 is the best.",
        metavar="NAMES",
    )
    lower: Words = option((), "Metrics whose lower scores are better; repeatable.", metavar="METRIC")
    by: str | None = option(None, BY)

    @property
    def needs_scorers(self) -> bool:
        """Scores may be returned or stand in the data: the study says what is missing once it has read them."""
        return False
