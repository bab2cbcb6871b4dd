"""What the metric study can be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from babelquake.studies.options import BY, RESAMPLES, SUITE, UNIT, Option, PerturbingOptions, Unit, Words

if TYPE_CHECKING:
    from babelquake.studies.resolve import Perturbations

Side = Literal["source", "translation", "reference"]


@dataclass(frozen=True, kw_only=True)
class MetricOptions(PerturbingOptions):
    """Measure how scores change when a text changes a little, and whether they still agree with people.

    Example: babelquake metric -m chrf -m bleu -d sample --side source -p jwalapuram2023 -o runs/punctuation
    """

    suite: Annotated[Perturbations | None, SUITE] = None
    side: Annotated[Side, Option(help="Side to perturb: source (f(X′,X)), translation or reference.")] = "translation"
    full_stops: Annotated[int, Option(help="Change final full stops in N random sentences only.", min=1)] = 1000
    deduplicate: Annotated[bool, Option(help="Keep the first of equal sources and references.")] = False
    threshold: Annotated[float, Option(help="Human scores closer than this are not a preference.", min=0)] = 25.0
    attacked: Annotated[bool, Option(help="Use the perturbed references that come with the data.")] = False
    tokenizers: Annotated[
        Words,
        Option(
            "--tokenizer",
            help="Count unknown tokens: a tokenizer.json, its folder, a .model, or minilm-en; repeat for several.",
        ),
    ] = ()
    best_of: Annotated[
        int | None,
        Option(help="Pick the best of N candidates by each scorer; measure the pick with the others.", min=2),
    ] = None
    by: Annotated[str | None, BY] = None
    unit: Annotated[Unit | None, UNIT] = None
    resamples: Annotated[int, RESAMPLES] = 2000
