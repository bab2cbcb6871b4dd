"""Standardised scores and segment means, digit for digit as WMT's tools make them, and the ranking that follows.

Which system do people prefer, which differences are sure, and what would it take to tell the others apart?
"""

import math
from collections.abc import Sequence
from itertools import combinations, pairwise

import polars as pl

from babelquake.data.ratings.table import COUNTED
from babelquake.stats.agreement import Array
from babelquake.stats.families import corrected
from babelquake.stats.ranks import can_separate, clusters, rank_sum_matrix, rank_sum_size, superiority_test
from babelquake.stats.resampling import Keys, segment_keys

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


ALPHA = 0.05


def ranked(means: pl.DataFrame, alpha: float = ALPHA) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Systems with wins and clusters, best first; and every ordered pair with its one-sided rank-sum p.

    `p_corrected` is step-down max-T's over the language pair, for the higher rated against the lower.
    """
    systems = system_means(means)
    names = systems["system"].to_list()
    samples = _samples(means, names)
    p = rank_sum_matrix(samples)
    places = clusters(p, alpha)
    first = [place.first for place in places]
    systems = systems.with_columns(
        rank=pl.Series(range(1, len(names) + 1), dtype=pl.Int64),
        wins=pl.Series([place.wins for place in places], dtype=pl.Int64),
        cluster=pl.Series([sorted(set(first)).index(start) + 1 for start in first], dtype=pl.Int64),
        cluster_start=pl.Series(first, dtype=pl.Int64),
        cluster_end=pl.Series([place.last for place in places], dtype=pl.Int64),
    )
    together = _corrected(means, names, alpha)
    pairs = [
        (names[one], names[other], float(p[one, other]), together.get((names[one], names[other])))
        for one in range(len(names))
        for other in range(len(names))
        if one != other
    ]
    schema = {"system": pl.String, "than": pl.String, "p": pl.Float64, "p_corrected": pl.Float64}
    return systems, pl.DataFrame(pairs, schema=schema, orient="row")


def _corrected(means: pl.DataFrame, names: list[str], alpha: float) -> dict[tuple[str, str], float | None]:
    """The corrected p of every two systems, the higher rated first; none where no outcome could be significant."""
    samples, keys = _samples(means, names), _keys(means, names)
    asked = [pair for pair in combinations(range(len(names)), 2) if can_separate(*(samples[one].size for one in pair))]
    tests = [superiority_test(samples[one], samples[two], (keys[one], keys[two])) for one, two in asked]
    outcomes = corrected(tests, alpha)
    return {(names[one], names[two]): found.p_corrected for (one, two), found in zip(asked, outcomes, strict=True)}


def still_needed(
    means: pl.DataFrame, systems: pl.DataFrame, pairs: pl.DataFrame, alpha: float = ALPHA, power: float = 0.8
) -> pl.DataFrame:
    """For every two systems that do not separate: segments each would need, and how many more ratings.

    Assumes that the difference seen is the true one (Noether 1987); `segments` and `more_ratings` are null where no
    number would do because the difference is nil. `neighbours` says whether the two are next to each other.
    """
    known = {(row["system"], row["than"]): row["p"] for row in pairs.iter_rows(named=True)}
    names = systems["system"].to_list()
    samples = dict(zip(names, _samples(means, names), strict=True))
    counts = {row["system"]: row for row in systems.iter_rows(named=True)}
    rows = []
    next_to = set(pairwise(names))
    for better, worse in combinations(names, 2):
        p = known[(better, worse)]
        if p < alpha:
            continue
        needed = rank_sum_size(samples[better], samples[worse], alpha, power)
        finite = math.isfinite(needed.each)
        more = sum(_more(needed.each, counts[name]) for name in (better, worse)) if finite else None
        segments = int(needed.each) if finite else None
        rows.append((better, worse, p, needed.superiority, segments, more, (better, worse) in next_to))
    schema = {
        "system": pl.String,
        "than": pl.String,
        "p": pl.Float64,
        "superiority": pl.Float64,
        "segments": pl.Int64,
        "more_ratings": pl.Int64,
        "neighbours": pl.Boolean,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def _more(each: float, counts: dict[str, float]) -> int:
    """Ratings still missing for so many segments, at as many ratings a segment as so far."""
    return max(0, math.ceil((each - counts["segments"]) * counts["ratings"] / counts["segments"]))


def _samples(means: pl.DataFrame, names: list[str]) -> list[Array]:
    return [part[ordering(means)].to_numpy() for part in _scored(means, names)]


def _keys(means: pl.DataFrame, names: list[str]) -> list[Keys]:
    return [segment_keys(part["segment"].cast(pl.String)) for part in _scored(means, names)]


def _scored(means: pl.DataFrame, names: list[str]) -> list[pl.DataFrame]:
    score = ordering(means)
    return [means.filter(pl.col("system") == name).drop_nulls(score) for name in names]
