"""What the MT study can be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from babelquake.studies.options import (
    BY,
    ENCODER,
    SCORER,
    SUITE,
    FailureEncoder,
    Option,
    PerturbingOptions,
    Reset,
    Unit,
    Words,
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
            help="System, e.g. bundled[model=de-en-bpe]; repeat for several; default: those in the data.",
        ),
    ] = ()
    defences: Annotated[
        Words,
        Option(
            "--defence",
            metavar="CHAIN",
            help="Defence to measure too, e.g. fold+spell; repeat for several; none is always measured.",
        ),
    ] = ()
    margin: Annotated[
        float, Option(help="Points (of 100) that a recommended defence may cost on clean text.", min=0, max=100)
    ] = 0.2
    suite: Annotated[Perturbations | None, SUITE] = None
    scorers: Annotated[Scorers, SCORER] = ("chrf", "bleu[lowercase=true]")
    threshold: Annotated[
        float, Option(help="Sentence chrF below which two translations count as different.", min=0, max=100)
    ] = 75.0
    reset: Annotated[
        Reset,
        Option(
            help="Restore the clean translation's final mark before judging: auto (where the source's mark was "
            "changed), paper, always or never."
        ),
    ] = "auto"
    full_stops: Annotated[
        int | None, Option(help="Change final full stops in N random sentences only; other noise is unaffected.", min=1)
    ] = None
    by: Annotated[str | None, BY] = None
    encoder: Annotated[FailureEncoder, ENCODER] = "auto"
    unit: Annotated[
        Unit | None,
        Option(help="What is resampled: segment or document; chat models are sent whole documents with document."),
    ] = None
    side: Annotated[
        Literal["source", "prompt"], Option(help="What is perturbed: the source, or the prompt of chat models.")
    ] = "source"
    repeats: Annotated[
        int,
        Option(
            metavar="K",
            help="Translate every clean source K times to see whether a system agrees with itself.",
            min=1,
            max=100,
        ),
    ] = 1
    deduplicate: Annotated[bool, Option(help="Keep only the first of equal pairs of source and reference.")] = False
