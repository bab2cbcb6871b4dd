"""Victims and their scales: every scorer's score of every tuple of the data (Huang 2023 §2.2)."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from babelquake.attacks.goal import Goal
from babelquake.attacks.sentence import Sentence
from babelquake.attacks.victim import Scale
from babelquake.engine import Engine
from babelquake.scorers import Scorer
from babelquake.scorers.base import Array, Questions
from babelquake.studies.attack.searching import likeness
from babelquake.studies.judging import of_each, scores_frame
from babelquake.studies.missing_scores import missing_error, steady


def questions(segments: pl.DataFrame, victim: Scorer, texts: Sequence[str]) -> Questions:
    """Texts as translations of segments, with what the victim needs of these."""
    references = segments["references"].to_list() if "reference" in victim.needs else None
    sources = segments["source"].to_list() if "source" in victim.needs else None
    return Questions(texts, references, sources)


def judged(engine: Engine, victim: Scorer, segments: pl.DataFrame, texts: Sequence[str]) -> Array:
    """One raw score per text."""
    return victim.score_rows(engine.judge(victim, questions(segments, victim, texts)))


def scores_of(engine: Engine, victims: Sequence[Scorer], segments: pl.DataFrame) -> pl.DataFrame:
    """Raw scores of all translations by all victims: columns row, scorer, score."""
    texts = segments["translation"].to_list()
    scores = of_each(victims, lambda victim: judged(engine, victim, segments, texts))
    for victim in steady(victims):
        if len(missing := np.flatnonzero(np.isnan(scores[victim.name]))):
            first = int(missing[0])
            name, text = segments["id"][first], texts[first] or ""
            raise missing_error(victim, len(missing), len(texts), "translations", name, text)
    return scores_frame(segments.select("row"), scores)


def scales(victims: Sequence[Scorer], scores: pl.DataFrame) -> dict[str, Scale]:
    """Mean and standard deviation of every victim over the data."""
    return {
        victim.name: Scale.over(
            scores.filter(pl.col("scorer") == victim.name)["score"].to_numpy(), victim.higher_is_better, victim.name
        )
        for victim in victims
    }


def transfer_scores(
    engine: Engine, victims: Sequence[Scorer], found: pl.DataFrame, known: dict[str, Scale], goal: Goal
) -> pl.DataFrame:
    """Every perturbation found, under every victim, per tuple and `other`.

    Normalised scores `before` and `after`, and whether the victim finds both texts as `alike` as the goal wants.
    """

    def told(victim: Scorer) -> pl.DataFrame:
        scale = known[victim.name]
        before, after = (
            [scale.normalised(float(score)) for score in judged(engine, victim, found, found[side].to_list())]
            for side in ("original", "perturbed")
        )
        return found.select("tuple").with_columns(
            other=pl.lit(victim.name),
            before=pl.Series(before, dtype=pl.Float64),
            after=pl.Series(after, dtype=pl.Float64),
            alike=pl.Series(_alike(engine, victim, scale, found, goal), dtype=pl.Boolean),
        )

    return pl.concat(of_each(victims, told).values())


def _alike(engine: Engine, victim: Scorer, scale: Scale, found: pl.DataFrame, goal: Goal) -> list[bool]:
    """Whether the victim finds original and perturbed as alike as the goal wants; goals that want nothing take all."""
    rows = found.select("original", "perturbed", "source").rows()
    limits = [likeness(goal, victim, scale, source) for *_, source in rows]
    asked = [
        limit.measured(Sentence.of(original), [Sentence.of(perturbed)])
        for limit, (original, perturbed, _) in zip(limits, rows, strict=True)
        if limit is not None
    ]
    values = dict(engine.search(asked, victim, stored=True))
    places = iter(range(len(asked)))
    return [limit is None or limit.allows(values[next(places)][0]) for limit in limits]
