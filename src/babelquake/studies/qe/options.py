"""What the QE study can be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from babelquake.studies.options import BY, RESAMPLES, SUITE, UNIT, Option, PerturbingOptions, Unit

if TYPE_CHECKING:
    from babelquake.studies.resolve import Perturbations, Scorers


@dataclass(frozen=True, kw_only=True)
class QeOptions(PerturbingOptions):
    """Probe QE models with harmless and harmful changes of good translations: MPP, MAP, discrimination, flags.

    Example: babelquake qe -m chrf -d dev.ruen.df.short.tsv -d test20.ruen.df.short.tsv -o runs/qe
    """

    suite: Annotated[Perturbations | None, SUITE] = None
    scorers: Annotated[Scorers, Option("--scorer", "-m", help="Scorer; repeat for several; default: qe-multi.")] = ()
    threshold: Annotated[float, Option(help="Probe only segments with at least this human score.")] = 70.0
    masked_lm: Annotated[
        str | None,
        Option(
            "--masked-lm",
            metavar="MODEL|none",
            help="Masked language model for mask-replace (MAP6); default for English: minilm-en.",
            identity=False,
            repeated=True,
        ),
    ] = None
    by: Annotated[str | None, BY] = None
    unit: Annotated[Unit | None, UNIT] = None
    resamples: Annotated[int, RESAMPLES] = 2000
