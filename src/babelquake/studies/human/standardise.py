"""Standardised scores and segment means, digit for digit as WMT's tools make them."""

from collections.abc import Sequence

import polars as pl

from babelquake.data.ratings.table import COUNTED

MOMENT_DIGITS = 7
"""WMT's annotator means and deviations pass through a file with 7 significant digits."""
SCORE_DIGITS = 15
"""Standardised scores and segment means pass through files with 15. What is rounded away is far below any difference
that matters, but decides ties, and with them the last digits of rank-sum p-values."""


def standardised(ratings: pl.DataFrame) -> pl.DataFrame:
    """Ratings with `z` = (raw − the annotator's mean) / the annotator's standard deviation, over all they gave.

    Graham et al. 2013: annotators use the scale differently; z puts them on one. Where a file has only standardised
    scores they stay as they are; who gave one score throughout, or one rating in all, says nothing and gets 0.
    """
    if ratings["raw"].null_count() == ratings.height:
        return ratings
    moments = ratings.group_by("annotator").agg(mean=pl.col("raw").mean(), sd=pl.col("raw").std(ddof=1))
    moments = moments.with_columns(rounded("mean", MOMENT_DIGITS), rounded("sd", MOMENT_DIGITS))
    joined = ratings.drop("z").join(moments, on="annotator", how="left", maintain_order="left")
    says_something = pl.col("sd").is_not_null() & (pl.col("sd") > 0)
    z = pl.when(says_something).then((pl.col("raw") - pl.col("mean")) / pl.col("sd")).otherwise(0.0)
    found = joined.with_columns(z=z).with_columns(rounded("z", SCORE_DIGITS))
    return found.select(ratings.columns)


def segment_means(ratings: pl.DataFrame, types: Sequence[str] = COUNTED, least: int = 1) -> pl.DataFrame:
    """Mean raw and standardised score of every translation, with the number of ratings behind it.

    Translations with fewer than `least` ratings are left out (Huang 2023 Appendix A takes those with three or more).
    """
    counted = ratings.filter(pl.col("type").is_in(list(types)))
    sums = counted.group_by("system", "segment", maintain_order=True).agg("raw", "z", n=pl.len().cast(pl.Int64))
    means = {name: [_mean(values) for values in sums[name].to_list()] for name in ("raw", "z")}
    scores = [pl.Series(name, values, pl.Float64) for name, values in means.items()]
    found = sums.select("system", "segment", *scores, "n")
    return found.filter(pl.col("n") >= least)


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean in order of appearance, printed with 15 digits and read back."""
    known = [value for value in values if value is not None]
    return float(f"{sum(known) / len(known):.{SCORE_DIGITS}g}") if known else None


def system_means(means: pl.DataFrame) -> pl.DataFrame:
    """Each system's score, the mean of its segment means (WMT's micro-average), best first.

    Systems are ordered by z; by raw scores where there are no standardised ones.
    """
    found = means.group_by("system", maintain_order=True).agg(
        raw=pl.col("raw").mean(), z=pl.col("z").mean(), segments=pl.len().cast(pl.Int64), ratings=pl.col("n").sum()
    )
    return found.sort(ordering(means), descending=True, nulls_last=True, maintain_order=True)


def ordering(means: pl.DataFrame) -> str:
    """The score by which systems are compared."""
    return "z" if means["z"].null_count() < means.height else "raw"


def rounded(column: str, digits: int) -> pl.Expr:
    """A column with so many significant digits, as printing and reading it back would give it."""
    return pl.col(column).map_batches(
        lambda values: pl.Series([None if v is None else float(f"{v:.{digits}g}") for v in values], dtype=pl.Float64),
        return_dtype=pl.Float64,
    )
