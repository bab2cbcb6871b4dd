"""What the metric study can be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from babelquake.studies.options import BY, RESAMPLES, SUITE, UNIT, PerturbingOptions, Unit, Words, option

if TYPE_CHECKING:
    from babelquake.perturb.suite import Perturbations


Side = Literal["source", "translation", "reference"]


@dataclass(frozen=True, kw_only=True)
class MetricOptions(PerturbingOptions):
    """Measure how scores change when a text changes a little, and whether they still agree with people.

    Example: babelquake metric -m chrf -m bleu -d sample --side source -p jwalapuram2023 -o runs/punctuation
    """

    suite: Perturbations | None = option(None, SUITE)
    side: Side = option("translation", "Side to perturb: source (f(X′,X)), translation or reference.")
    full_stops: int = option(1000, "Change final full stops in N random sentences only.", min=1)
    deduplicate: bool = option(False, "Keep the first of equal sources and references.")
    threshold: float = option(25.0, "Human scores closer than this are not a preference.", min=0)
    attacked: bool = option(False, "Use the perturbed references that come with the data.")
    tokenizers: Words = option(
        (),
        "Count unknown tokens: a tokenizer.json, its folder, a .model, or minilm-en; repeat for several.",
        "--tokenizer",
    )
    best_of: int | None = option(
        None, "Pick the best of N candidates by each scorer; measure the pick with the others.", min=2
    )
    by: str | None = option(None, BY)
    unit: Unit | None = option(None, UNIT)
    resamples: int = option(2000, RESAMPLES)
