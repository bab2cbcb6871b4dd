"""Scorers asked about translations as they are, one model in memory at a time, and their scores as a table."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import polars as pl

from babelquake.data import Dataset
from babelquake.engine import in_turn
from babelquake.scorers import Questions, Scorer
from babelquake.scorers.base import Array

S = TypeVar("S", bound=Scorer)
T = TypeVar("T")


def questions_about(data: Dataset) -> Questions:
    """What scorers are asked of every translation, in the order of the data."""
    translations, sources = (data.segments[name].fill_null("").to_list() for name in ("translation", "source"))
    return Questions(translations, data.segments["references"].to_list() if data.has("references") else None, sources)


def of_each(scorers: Sequence[S], told: Callable[[S], T]) -> dict[str, T]:
    """What is told of each scorer, by name and in their order; models are asked one after another."""
    found = {scorer.name: told(scorer) for scorer in in_turn(scorers)}
    return {scorer.name: found[scorer.name] for scorer in scorers}


def scores_frame(keys: pl.DataFrame, scores: Mapping[str, Array]) -> pl.DataFrame:
    """One row for each of `keys` and scorer."""
    return pl.concat(
        keys.with_columns(scorer=pl.lit(name), score=pl.Series(values, dtype=pl.Float64))
        for name, values in scores.items()
    )
