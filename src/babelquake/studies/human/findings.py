"""What ratings say: quality control, standardised scores, means, agreement, ranking, clusters, power."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from babelquake.data.ratings.table import COUNTED, TUTORIAL, Ratings
from babelquake.errors import UserError
from babelquake.studies.human.agreement import annotator_agreement
from babelquake.studies.human.people import annotator_habits, span_counts, times
from babelquake.studies.human.quality import ALPHA, annotator_quality, hit_quality, kept, share_passed
from babelquake.studies.human.ranking import ranked, still_needed
from babelquake.studies.human.standardise import segment_means, standardised

EXCLUDE = ("none", "hits", "annotators", "both")


@dataclass(frozen=True)
class Findings:
    """Everything an analysis of ratings found, as tables."""

    name: str
    ratings: pl.DataFrame
    """The ratings that count, with z."""
    segments: pl.DataFrame
    systems: pl.DataFrame
    pairs: pl.DataFrame
    hits: pl.DataFrame
    annotators: pl.DataFrame
    power: pl.DataFrame
    agreement: dict[str, Any]
    facts: dict[str, Any]
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> str:
        """One object with every table as a list of rows."""
        tables = ("systems", "pairs", "segments", "annotators", "hits", "power")
        found: dict[str, Any] = {"name": self.name, **self.facts, "agreement": self.agreement, "notes": self.notes}
        found["clusters"] = [
            group["system"].to_list() for group in self.systems.partition_by("cluster", maintain_order=True)
        ]
        found |= {name: getattr(self, name).to_dicts() for name in tables}
        return json.dumps(found, ensure_ascii=False)


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

    Standardised scores come from all of an annotator's remaining ratings, control items included; means from those of
    the `counted` types, for translations with at least `least` ratings.
    """
    if exclude not in EXCLUDE:
        raise UserError(f"--exclude {exclude}: expected {', '.join(EXCLUDE)}.")
    notes = list(ratings.notes)
    working = ratings.frame.filter(pl.col("type") != TUTORIAL)
    if tutorials := ratings.frame.height - working.height:
        notes.append(f"{tutorials} ratings of training items were left out")
    hits, people = hit_quality(working, alpha), annotator_quality(working, alpha)
    good = standardised(kept(working, exclude, alpha))
    if excluded := working.height - good.height:
        notes.append(f"quality control took out {excluded} of {working.height} ratings")
    means = ratings.means if ratings.means is not None else segment_means(good, counted, least)
    if not means.height:
        raise UserError(f"{ratings.name}: no translation has {least} or more ratings{' left' if excluded else ''}.")
    systems, pairs = ranked(means, alpha)
    spans = span_counts(good.filter(pl.col("type").is_in(list(counted))))
    if spans.height:
        systems = systems.join(spans, on="system", how="left", maintain_order="left")
    facts = {
        "ratings": working.height,
        "ratings_kept": good.height,
        "annotators_in_all": working["annotator"].n_unique(),
        "hits_in_all": hits.height,
        "hits_passed": share_passed(hits),
        "annotators_passed": share_passed(people),
        "exclude": exclude,
        "seconds": times(working),
    }
    return Findings(
        ratings.name, good, means, systems, pairs, hits, annotator_habits(working, people),
        still_needed(means, systems, pairs, alpha, power), annotator_agreement(good), facts, notes,
    )  # fmt: skip
