"""What the study of agreement with people can be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from babelquake.studies.options import SCORER, StudyOptions, Words, option

if TYPE_CHECKING:
    from babelquake.studies.resolve import Scorers


OF_SPANS = ("span_f1", "span_precision", "span_recall")
"""Statistics of errors that were marked."""
STATISTICS = ("darr", "auc", "kendall_like", "pearson", "spearman", "kendall", "accuracy", "soft_accuracy", *OF_SPANS)


@dataclass(frozen=True, kw_only=True)
class CorrelateOptions(StudyOptions):
    """Measure how well scores agree with human judgements, and which differences between scorers are significant.

    Example: babelquake correlate -d wmt21.flores -m chrf -m 'scores[file=COMET.seg.score]' --json
    """

    quickly_made_again: ClassVar[bool] = True

    scorers: Scorers = option((), SCORER)
    statistics: Words = option(
        STATISTICS,
        "darr, auc, kendall-like, pearson, spearman, kendall, accuracy, soft-accuracy, span-f1, span-precision, "
        "span-recall; default: all.",
        "--statistic",
    )
    spans: Words = option(
        (),
        "Errors that a judge marked elsewhere (JSON lines, Appraise's CSV), set against the data's.",
        metavar="[NAME=]FILE",
    )
    threshold: float = option(25.0, "Human scores closer than this are not a preference (kendall_like).", min=0)
    by: Literal["item", "system", "none"] | None = option(
        None, "Correlate within item or system, or none: all together; default: as usual for the statistic."
    )

    @property
    def needs_scorers(self) -> bool:
        """Whether nothing can be measured without a scorer: errors marked elsewhere need none."""
        return not self.spans
