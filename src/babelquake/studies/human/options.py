"""What the study of ratings can be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from babelquake.studies.options import Option, RunOptions, Words


@dataclass(frozen=True, kw_only=True)
class HumanOptions(RunOptions):
    """Check the quality of ratings, standardise scores, measure agreement, and rank systems in clusters."""

    exclude: Annotated[str, Option(help="What quality control removes: none, hits, annotators or both.")] = "none"
    least: Annotated[int, Option(help="Ratings a translation needs to count.", min=1)] = 1
    counted: Annotated[Words, Option(help="Kinds of items whose ratings count.", identity=False)] = ()
    alpha: Annotated[float, Option(help="Significance level of all tests.", min=0.0001, max=0.5)] = 0.05
    power: Annotated[float, Option(help="Power to compute sample sizes for.", min=0.5, max=0.999)] = 0.8
