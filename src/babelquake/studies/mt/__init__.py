"""What the MT study can be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from babelquake.studies.options import (
    BY,
    ENCODER,
    SCORER,
    SUITE,
    FailureEncoder,
    PerturbingOptions,
    Reset,
    Unit,
    Words,
    option,
)

if TYPE_CHECKING:
    from babelquake.perturb.suite import Perturbations
    from babelquake.studies.resolve import Scorers, Systems


@dataclass(frozen=True, kw_only=True)
class MtOptions(PerturbingOptions):
    """Measure how translations change when the source changes a little: ROBUST, CONSIS, % inconsistent.

    Example: babelquake mt -s 'bundled[model=de-en-bpe]' -d sample -p everyday -o runs/everyday
    """

    systems: Systems = option(
        (), "System, e.g. bundled[model=de-en-bpe]; repeat for several; default: those in the data.", "--system", "-s"
    )
    defences: Words = option(
        (),
        "Defence to measure too, e.g. fold+spell; repeat for several; none is always measured.",
        "--defence",
        metavar="CHAIN",
    )
    margin: float = option(0.2, "Points (of 100) that a recommended defence may cost on clean text.", min=0, max=100)
    suite: Perturbations | None = option(None, SUITE)
    scorers: Scorers = option(("chrf", "bleu[lowercase=true]"), SCORER)
    threshold: float = option(75.0, "Sentence chrF below which two translations count as different.", min=0, max=100)
    reset: Reset = option(
        "auto",
        "Restore the clean translation's final mark before judging: auto (where the source's mark was "
        "changed), paper, always or never.",
    )
    full_stops: int | None = option(
        None, "Change final full stops in N random sentences only; other noise is unaffected.", min=1
    )
    by: str | None = option(None, BY)
    encoder: FailureEncoder = option("auto", ENCODER)
    unit: Unit | None = option(
        None, "What is resampled: segment or document; chat models are sent whole documents with document."
    )
    side: Literal["source", "prompt"] = option("source", "What is perturbed: the source, or the prompt of chat models.")
    repeats: int = option(
        1,
        "Translate every clean source K times to see whether a system agrees with itself.",
        metavar="K",
        min=1,
        max=100,
    )
    deduplicate: bool = option(False, "Keep only the first of equal pairs of source and reference.")
