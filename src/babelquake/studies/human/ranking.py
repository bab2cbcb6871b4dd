"""Which system do people prefer, which differences are sure, and what would it take to tell the others apart?"""

import math
from itertools import combinations, pairwise

import polars as pl

from babelquake.stats.families import corrected
from babelquake.stats.groups import Array
from babelquake.stats.ranks import can_separate, clusters, rank_sum_matrix, rank_sum_size
from babelquake.stats.resampling import Keys, segment_keys
from babelquake.stats.superiority import superiority_test
from babelquake.studies.human.standardise import ordering, system_means

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
