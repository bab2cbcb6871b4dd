"""Do people agree? Within a campaign, and between two."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from babelquake.data.ratings.table import SYSTEM
from babelquake.errors import UserError
from babelquake.stats.raters import krippendorff, rater_pairs


@dataclass(frozen=True)
class Campaigns:
    """Agreement of two campaigns on the translations both judged."""

    pearson: float
    tau_c: float
    n: int


@dataclass(frozen=True)
class Annotators:
    """Agreement of a campaign's annotators; None where nothing was judged twice."""

    alpha_raw: float | None
    alpha_z: float | None
    pearson: float | None
    kendall: float | None
    pairs: int
    """Pairs of annotators who judged something in common."""
    common: int
    """What they judged in common, all pairs together."""
    units: int
    """Translations with several judgements."""


def annotator_agreement(ratings: pl.DataFrame) -> Annotators:
    """Krippendorff's α (interval) on raw and standardised scores; mean Pearson and Kendall of every two annotators.

    Of repeated items only the first showing counts, so that nobody agrees with themself.
    """
    judged = ratings.filter(type=SYSTEM).with_columns(unit=pl.format("{}\t{}", "system", "segment"))
    once = judged.group_by("annotator", "unit", maintain_order=True).agg(pl.col("raw").mean(), pl.col("z").mean())
    twice = once.filter(pl.col("unit").is_duplicated())
    score = "raw" if twice["raw"].null_count() < twice.height else "z"
    known = twice.drop_nulls(score)
    by_annotator: dict[str, dict[str, float]] = {}
    for annotator, unit, value in known.select("annotator", "unit", score).iter_rows():
        by_annotator.setdefault(annotator, {})[unit] = value
    raw, z = (_number(krippendorff(once["unit"], once[name])) for name in ("raw", "z"))
    found = rater_pairs(by_annotator)
    pearson, kendall = _number(found.pearson), _number(found.kendall)
    return Annotators(raw, z, pearson, kendall, found.pairs, found.common, twice["unit"].n_unique())


def campaign_agreement(first: pl.DataFrame, second: pl.DataFrame) -> Campaigns:
    """Pearson's r and Kendall's τ-c of two campaigns' segment means, raw scores, over the translations in both.

    τ-c (Stuart 1953) allows for different numbers of distinct scores on the two sides.
    """
    from scipy.stats import kendalltau

    both = first.join(second, on=["system", "segment"], how="inner", suffix="_other").drop_nulls(["raw", "raw_other"])
    if both.height < 2:
        raise UserError(
            "the two campaigns have fewer than two translations in common: system and segment names differ."
        )
    one, other = both["raw"].to_numpy(), both["raw_other"].to_numpy()
    tau = kendalltau(one, other, variant="c").statistic
    return Campaigns(float(np.corrcoef(one, other)[0, 1]), float(tau), both.height)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else value
