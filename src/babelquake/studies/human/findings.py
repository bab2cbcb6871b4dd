"""What ratings say: quality control, standardised scores, means, agreement, ranking, clusters, power.

Standardised scores and segment means are made digit for digit as WMT's tools make them. The ranking that follows says
which system people prefer, which differences are sure, and what it would take to tell the others apart. Findings go
on to other tools: tables, mt-metrics-eval's `.seg.score`, the attack study.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import polars as pl

from babelquake.data import write
from babelquake.data.ratings import COUNTED, TUTORIAL, Ratings
from babelquake.errors import UserError, setting
from babelquake.files import deliver
from babelquake.runs.measures import ALPHA
from babelquake.stats.agreement import Array
from babelquake.stats.families import corrected
from babelquake.stats.intervals import mean_interval
from babelquake.stats.ranks import (
    can_separate,
    clusters,
    rank_sum_matrix,
    rank_sum_size,
    signed_rank_test,
    superiority_test,
)
from babelquake.stats.resampling import Keys, segment_keys
from babelquake.studies.human.people import (
    Annotators,
    Times,
    annotator_agreement,
    annotator_habits,
    annotator_quality,
    hit_quality,
    kept,
    share_passed,
    span_counts,
    suggestion_effects,
    suggestions_taken,
    times,
)

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


def ranked(means: pl.DataFrame, alpha: float = ALPHA) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Systems with wins and clusters, best first; and every ordered pair with its one-sided rank-sum p.

    `p_corrected` is step-down max-T's over the language pair, for the higher rated against the lower.
    """
    systems = system_means(means)
    names = systems["system"].to_list()
    samples, keys = _samples(means, names)
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
    together = _corrected(samples, keys, names, alpha)
    pairs = [
        (names[one], names[other], float(p[one, other]), together.get((names[one], names[other])))
        for one in range(len(names))
        for other in range(len(names))
        if one != other
    ]
    schema = {"system": pl.String, "than": pl.String, "p": pl.Float64, "p_corrected": pl.Float64}
    return systems, pl.DataFrame(pairs, schema=schema, orient="row")


def _corrected(
    samples: list[Array], keys: list[Keys], names: list[str], alpha: float
) -> dict[tuple[str, str], float | None]:
    """The corrected p of every two systems, the higher rated first; none where no outcome could be significant."""
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
    samples = dict(zip(names, _samples(means, names)[0], strict=True))
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


def _samples(means: pl.DataFrame, names: list[str]) -> tuple[list[Array], list[Keys]]:
    """The scores of each system, and the keys of their segments."""
    score = ordering(means)
    parts = [means.filter(system=name).drop_nulls(score) for name in names]
    keys = [segment_keys(part["segment"].cast(pl.String)) for part in parts]
    return [part[score].to_numpy() for part in parts], keys


SIDES = ("original", "perturbed")


def export(segments: pl.DataFrame, path: str | Path, score: str = "z") -> None:
    """Write segment means: `.seg.score` as mt-metrics-eval reads it, anything else as a table (TSV, Parquet, …).

    `score` says which mean a `.seg.score` file holds, `z` or `raw`; tables hold both.
    """
    target = Path(path)
    if target.name.endswith(".score"):
        deliver("".join(f"{system}\t{value}\n" for system, value in segment_scores(segments, score)), target)
    else:
        write(segments, target)


def segment_scores(segments: pl.DataFrame, score: str = "z") -> list[tuple[str, str]]:
    """System and score of every segment of every system, `None` where nobody judged.

    Segments with numbers for names are lines of a test set, counted from 1; others keep their order of appearance.
    """
    if "language_pair" in segments.columns and segments["language_pair"].n_unique() > 1:
        raise UserError(f"a .seg.score file has one language pair. Choose it with {setting('language_pair')}.")
    names = segments["segment"].unique(maintain_order=True).to_list()
    if all(name.isdecimal() for name in names):
        names = [str(place) for place in range(1, max(map(int, names)) + 1)]
    known = {
        (system, segment): value for system, segment, value in segments.select("system", "segment", score).iter_rows()
    }
    systems = sorted(segments["system"].unique().to_list())
    return [(system, repr(known.get((system, name)))) for system in systems for name in names]


def for_attack(segments: pl.DataFrame) -> pl.DataFrame:
    """What the attack study takes: `tuple`, `side` (original or perturbed), `z`, `mean_raw` and `n`.

    Only side-by-side ratings have it: their systems are the two sides.
    """
    if not set(segments["system"].unique()) <= set(SIDES):
        raise UserError("these are not ratings of original and perturbed translations, which the attack study needs.")
    return segments.select(
        tuple=pl.col("segment"), side=pl.col("system"), z=pl.col("z"), mean_raw=pl.col("raw"), n=pl.col("n")
    )


CELLS = ("victim", "recipe", "year")
NUMBERS = ("original", "perturbed", "loss", "low", "high", "p", "p_corrected")
SCHEMA = {**dict.fromkeys(CELLS, pl.String), "n": pl.Int64, **dict.fromkeys(NUMBERS, pl.Float64)}


def degradation(ratings: pl.DataFrame, segments: pl.DataFrame) -> pl.DataFrame:
    """Per cell: mean standardised score of both sides and the loss, with a 95 % interval and a one-sided p.

    The p is Wilcoxon's signed-rank test that originals are rated higher, corrected by step-down max-T over the cells of
    a victim. No rows where the ratings are not of
    original and perturbed translations; columns the data do not have are null.
    """
    known = [name for name in CELLS if f"group_{name}" in ratings.columns]
    if not segments.height or set(segments["system"].unique()) != set(SIDES):
        return pl.DataFrame(schema=SCHEMA)
    groups = ratings.group_by("segment").agg(pl.col(f"group_{name}").first().alias(name) for name in known)
    sides = [segments.filter(system=side).select("segment", pl.col("z").alias(side)) for side in SIDES]
    both = sides[0].join(sides[1], on="segment").join(groups, on="segment", how="left")
    parts = both.partition_by(known, as_dict=True, maintain_order=True) if known else {(): both}
    rows: list[dict[str, Any]] = []
    tests = []
    for key, part in sorted(parts.items(), key=lambda item: str(item[0])):
        original, perturbed = (part[side].to_numpy() for side in SIDES)
        loss = original - perturbed
        tests.append(signed_rank_test(original, perturbed, segment_keys(part["segment"].cast(pl.String))))
        numbers = (*(float(each.mean()) for each in (original, perturbed, loss)), *mean_interval(loss), tests[-1].p)
        cell = dict.fromkeys(CELLS) | dict(zip(known, key, strict=True))
        rows.append({**cell, "n": part.height, **dict(zip(NUMBERS, numbers, strict=False))})
    victims = [row["victim"] for row in rows]
    for victim in dict.fromkeys(victims):
        own = [place for place, name in enumerate(victims) if name == victim]
        for place, outcome in zip(own, corrected([tests[place] for place in own]), strict=True):
            rows[place]["p_corrected"] = outcome.p_corrected
    return pl.DataFrame(rows, schema=SCHEMA)


EXCLUDE = ("none", "hits", "annotators", "both")
TABLES = [
    "systems",
    "pairs",
    "segments",
    "annotators",
    "hits",
    "power",
    "degradation",
    "suggestions",
    "suggestions_taken",
]
"""The tables of findings, as JSON and run folders name them."""


@dataclass(frozen=True)
class Facts:
    """How large a campaign is, how much of it counts, and why."""

    ratings: int
    ratings_kept: int
    annotators_in_all: int
    hits_in_all: int
    hits_passed: float | None
    """The share of tasks that could be tested and passed; None where none could."""
    annotators_passed: float | None
    exclude: str
    least: int
    seconds: Times


@dataclass(frozen=True)
class Findings:
    """Everything an analysis of ratings found, as tables; those about systems have a column `language_pair`."""

    name: str
    ratings: pl.DataFrame
    """The ratings that count, with z."""
    segments: pl.DataFrame
    systems: pl.DataFrame
    pairs: pl.DataFrame
    hits: pl.DataFrame
    annotators: pl.DataFrame
    power: pl.DataFrame
    degradation: pl.DataFrame
    suggestions: pl.DataFrame
    """What suggested errors change; see `suggestion_effects`."""
    suggestions_taken: pl.DataFrame
    agreement: dict[str | None, Annotators]
    """By language pair."""
    facts: Facts
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """One object with every table as a list of rows, and the systems' names by cluster.

        `agreement` is that of the one language pair, or an object of them by pair.
        """
        several = len(self.agreement) > 1
        agreement: Any = {str(pair): asdict(found) for pair, found in self.agreement.items()}
        parts = self.systems.partition_by("language_pair", "cluster", maintain_order=True)
        return {
            "name": self.name,
            **asdict(self.facts),
            "notes": self.notes,
            "agreement": agreement if several else next(iter(agreement.values())),
            "clusters": [part["system"].to_list() for part in parts],
            **{name: json.loads(getattr(self, name).write_json()) for name in TABLES},
        }


def findings(
    ratings: Ratings,
    *,
    exclude: str = "none",
    least: int = 1,
    counted: Sequence[str] = COUNTED,
    alpha: float = ALPHA,
    power: float = 0.8,
) -> Findings:
    """Analyse ratings; `exclude` says what quality control takes out: none, hits, annotators or both.

    Annotators are tested on everything they did; all else is done for each language pair on its own, as WMT does.
    Standardised scores come from all of an annotator's remaining ratings, control items included; means from those of
    the `counted` types, for translations with at least `least` ratings.
    """
    if exclude not in EXCLUDE:
        raise UserError(f"{setting('exclude', exclude)}: expected {', '.join(EXCLUDE)}.")
    notes = list(ratings.notes)
    working = ratings.frame.filter(pl.col("type") != TUTORIAL)
    if tutorials := ratings.frame.height - working.height:
        notes.append(f"{tutorials} ratings of training items were left out")
    hits, people = hit_quality(working, alpha), annotator_quality(working, alpha)
    good = kept(working, exclude, alpha)
    if excluded := working.height - good.height:
        notes.append(f"quality control removed {excluded} of {working.height} ratings")
    pairs = good.partition_by("language_pair", maintain_order=True) or [good]
    parts = [_part(one, ratings.means, counted, least, alpha, power) for one in pairs]
    joined = ("ratings", "segments", "systems", "pairs", "power", "degradation")
    found = {name: pl.concat([part[name] for part in parts], how="diagonal") for name in joined}
    if not found["segments"].height:
        hints = [f"{setting('least', 1)} counts those with fewer."] if least > 1 else []
        if excluded:
            hints.append(f"{setting('exclude', 'none')} keeps the {excluded} that quality control removed.")
        raise UserError(f"{ratings.name}: no translation has {least} or more ratings. {' '.join(hints)}".rstrip())
    facts = Facts(
        ratings=working.height,
        ratings_kept=good.height,
        annotators_in_all=working["annotator"].n_unique(),
        hits_in_all=hits.height,
        hits_passed=share_passed(hits),
        annotators_passed=share_passed(people),
        exclude=exclude,
        least=least,
        seconds=times(working),
    )
    return Findings(
        name=ratings.name,
        hits=hits,
        annotators=annotator_habits(working, people),
        suggestions=suggestion_effects(good),
        suggestions_taken=suggestions_taken(good),
        agreement={part["pair"]: part["agreement"] for part in parts},
        facts=facts,
        notes=notes,
        **found,
    )


def _part(
    ratings: pl.DataFrame, means: pl.DataFrame | None, counted: Sequence[str], least: int, alpha: float, power: float
) -> dict[str, Any]:
    """The findings on one language pair."""
    pair = ratings["language_pair"][0] if ratings.height else None
    scored = standardised(ratings)
    segments = means if means is not None else segment_means(scored, counted, least)
    systems, pairs = ranked(segments, alpha)
    needed = still_needed(segments, systems, pairs, alpha, power)
    spans = span_counts(scored.filter(pl.col("type").is_in(list(counted))))
    if spans.height:
        systems = systems.join(spans, on="system", how="left", maintain_order="left")
    of_pair = pl.lit(pair, dtype=pl.String).alias("language_pair")
    tables = {"segments": segments, "systems": systems, "pairs": pairs, "power": needed}
    return {
        "pair": pair,
        "ratings": scored,
        **{name: table.select(of_pair, pl.all()) for name, table in tables.items()},
        "degradation": degradation(scored, segments),
        "agreement": annotator_agreement(scored),
    }
