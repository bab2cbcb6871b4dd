"""What the QE study can be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from babelquake.studies.options import BY, RESAMPLES, SUITE, UNIT, PerturbingOptions, Unit, option

if TYPE_CHECKING:
    from babelquake.perturb.suite import Perturbations
    from babelquake.studies.resolve import Scorers


@dataclass(frozen=True, kw_only=True)
class QeOptions(PerturbingOptions):
    """Probe QE models with harmless and harmful changes of good translations: MPP, MAP, discrimination, flags.

    Example: babelquake qe -m chrf -d dev.ruen.df.short.tsv -d test20.ruen.df.short.tsv -o runs/qe
    """

    suite: Perturbations | None = option(None, SUITE)
    scorers: Scorers = option((), "Scorer; repeat for several; default: qe-multi.", "--scorer", "-m")
    threshold: float = option(70.0, "Probe only segments with at least this human score.")
    masked_lm: str | None = option(
        None,
        "Masked language model for mask-replace (MAP6); default for English: minilm-en.",
        "--masked-lm",
        metavar="MODEL|none",
        identity=False,
        repeated=True,
    )
    by: str | None = option(None, BY)
    unit: Unit | None = option(None, UNIT)
    resamples: int = option(2000, RESAMPLES)
