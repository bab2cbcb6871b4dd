"""Victims and their scales: every scorer's score of every tuple of the data (Huang 2023 §2.2)."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from babelquake.attacks.victim import Scale
from babelquake.engine import Engine, in_turn
from babelquake.scorers import Scorer
from babelquake.scorers.base import Array, Questions
from babelquake.studies.missing import missing_error, steady


def questions(segments: pl.DataFrame, victim: Scorer, texts: Sequence[str]) -> Questions:
    """Texts as translations of segments, with what the victim needs of these."""
    references = segments["references"].to_list() if "reference" in victim.needs else None
    sources = segments["source"].to_list() if "source" in victim.needs else None
    return Questions(texts, references, sources)


def judged(engine: Engine, victim: Scorer, segments: pl.DataFrame, texts: Sequence[str]) -> Array:
    """One raw score per text."""
    return victim.score_rows(engine.judge(victim, questions(segments, victim, texts)))


def scores_of(engine: Engine, victims: Sequence[Scorer], segments: pl.DataFrame) -> pl.DataFrame:
    """Raw scores of all translations by all victims: columns row, victim, score."""
    texts = segments["translation"].to_list()
    scores = {id(victim): judged(engine, victim, segments, texts) for victim in in_turn(victims)}
    for victim in steady(victims):
        if len(missing := np.flatnonzero(np.isnan(scores[id(victim)]))):
            first = int(missing[0])
            name, text = segments["id"][first], texts[first] or ""
            raise missing_error(victim, len(missing), len(texts), "translations", name, text)
    return pl.concat(
        segments.select("row").with_columns(victim=pl.lit(victim.name), score=pl.Series(scores[id(victim)]))
        for victim in victims
    )


def scales(victims: Sequence[Scorer], scores: pl.DataFrame) -> dict[str, Scale]:
    """Mean and standard deviation of every victim over the data."""
    return {
        victim.name: Scale.over(
            scores.filter(pl.col("victim") == victim.name)["score"].to_numpy(), victim.higher_is_better, victim.name
        )
        for victim in victims
    }


def transfer_scores(
    engine: Engine, victims: Sequence[Scorer], found: pl.DataFrame, known: dict[str, Scale]
) -> pl.DataFrame:
    """Every perturbation found, under every victim: normalised scores `before` and `after`, per tuple and `other`."""
    parts = {}
    for victim in in_turn(victims):
        scale = known[victim.name]
        before, after = (
            [scale.normalised(float(score)) for score in judged(engine, victim, found, found[side].to_list())]
            for side in ("original", "perturbed")
        )
        parts[id(victim)] = found.select("tuple").with_columns(
            other=pl.lit(victim.name),
            before=pl.Series(before, dtype=pl.Float64),
            after=pl.Series(after, dtype=pl.Float64),
        )
    return pl.concat(parts[id(victim)] for victim in victims)
