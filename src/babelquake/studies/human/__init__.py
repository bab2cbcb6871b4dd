"""What the study of ratings can be told."""

from __future__ import annotations

from dataclasses import dataclass

from babelquake.studies.options import RunOptions, Words, option


@dataclass(frozen=True, kw_only=True)
class HumanOptions(RunOptions):
    """Check the quality of ratings, standardise scores, measure agreement, and rank systems in clusters."""

    exclude: str = option("none", "What quality control removes: none, hits, annotators or both.")
    least: int = option(1, "Ratings a translation needs to count.", min=1)
    counted: Words = option((), "Kinds of items whose ratings count.", identity=False)
    alpha: float = option(0.05, "Significance level of all tests.", min=0.0001, max=0.5)
    power: float = option(0.8, "Power to compute sample sizes for.", min=0.5, max=0.999)
