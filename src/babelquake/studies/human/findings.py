"""What ratings say: quality control, standardised scores, means, agreement, ranking, clusters, power.

And on their way to other tools: tables, mt-metrics-eval's `.seg.score`, the attack study.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from babelquake.data import write
from babelquake.data.ratings.table import COUNTED, TUTORIAL, Ratings
from babelquake.errors import UserError, setting
from babelquake.files import deliver
from babelquake.stats.families import corrected
from babelquake.stats.intervals import mean_interval
from babelquake.stats.ranks import signed_rank_test
from babelquake.stats.resampling import segment_keys
from babelquake.studies.human.people import (
    ALPHA,
    Annotators,
    Times,
    annotator_agreement,
    annotator_habits,
    annotator_quality,
    hit_quality,
    kept,
    share_passed,
    span_counts,
    times,
)
from babelquake.studies.human.ranking import ranked, segment_means, standardised, still_needed
from babelquake.studies.human.suggestions import suggestion_effects, suggestions_taken

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
    return [(system, _shown(known.get((system, name)))) for system in systems for name in names]


def for_attack(segments: pl.DataFrame) -> pl.DataFrame:
    """What the attack study takes: `tuple`, `side` (original or perturbed), `z`, `mean_raw` and `n`.

    Only side-by-side ratings have it: their systems are the two sides.
    """
    if not set(segments["system"].unique()) <= set(SIDES):
        raise UserError("these are not ratings of original and perturbed translations, which the attack study needs.")
    return segments.select(
        tuple=pl.col("segment"), side=pl.col("system"), z=pl.col("z"), mean_raw=pl.col("raw"), n=pl.col("n")
    )


def _shown(value: float | None) -> str:
    return "None" if value is None else repr(value)


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
    parts = [_part(one, ratings.means, counted, least, alpha, power) for one in _by_pair(good)]
    joined = ("ratings", "segments", "systems", "pairs", "power", "degradation")
    found = {name: pl.concat([part[name] for part in parts], how="diagonal") for name in joined}
    if not found["segments"].height:
        raise UserError(
            f"{ratings.name}: no translation has {least} or more ratings{' left' if excluded else ''}: "
            f"{setting('least', 1)} counts those with fewer."
        )
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


def _by_pair(ratings: pl.DataFrame) -> list[pl.DataFrame]:
    return ratings.partition_by("language_pair", maintain_order=True) if ratings.height else [ratings]


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
