"""What the MT study can be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from babelquake.studies.options import (
    BY,
    ENCODER,
    SCORER,
    SUITE,
    UNIT,
    FailureEncoder,
    Option,
    PerturbingOptions,
    Reset,
    Unit,
)

if TYPE_CHECKING:
    from babelquake.studies.resolve import Perturbations, Scorers, Systems


@dataclass(frozen=True, kw_only=True)
class MtOptions(PerturbingOptions):
    """Measure how translations change when the source changes a little: ROBUST, CONSIS, % inconsistent.

    Example: babelquake mt -s 'bundled[model=de-en-bpe]' -d sample -p everyday -o runs/everyday
    """

    systems: Annotated[
        Systems,
        Option(
            "--system",
            "-s",
            metavar="SYSTEM",
            help="System, e.g. bundled[model=de-en-bpe]; repeat for several; default: those in the data.",
        ),
    ] = ()
    suite: Annotated[Perturbations | None, SUITE] = None
    scorers: Annotated[Scorers, SCORER] = ("chrf", "bleu[lowercase=true]")
    threshold: Annotated[
        float,
        Option(metavar="X", help="Sentence chrF below which two translations count as different.", min=0, max=100),
    ] = 75.0
    reset: Annotated[
        Reset,
        Option(metavar="RESET", help="Undo marks that follow the source's: auto (punctuation), paper, always, never."),
    ] = "auto"
    sample: Annotated[
        int | None, Option(metavar="N", help="Of sentences with a full stop, N for final-… changes.", min=1)
    ] = None
    by: Annotated[str | None, BY] = None
    encoder: Annotated[FailureEncoder, ENCODER] = "auto"
    unit: Annotated[Unit | None, UNIT] = None
    deduplicate: Annotated[bool, Option(help="Keep the first of equal sources and references.")] = False
