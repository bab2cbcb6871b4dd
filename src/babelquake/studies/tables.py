"""Statistics in tables: rows of numbers to and from list columns, and small joins that studies share."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import polars as pl

from babelquake.errors import UserError
from babelquake.languages import Language, LanguagePair
from babelquake.scorers import Scorer
from babelquake.scorers import scorer as scorer_of
from babelquake.scorers.base import Array
from babelquake.spec import expand

T = TypeVar("T")


def list_column(statistics: Array) -> pl.Series:
    """Rows of numbers as a column of lists."""
    rows, width = statistics.shape
    return pl.Series(statistics.reshape(rows, width), dtype=pl.Array(pl.Float64, width)).cast(pl.List(pl.Float64))


def rows_of(column: pl.Series) -> Array:
    """A column of lists of equal length as rows of numbers."""
    if column.is_empty():
        return np.zeros((0, 0))
    return column.explode().to_numpy().reshape(len(column), -1)


def summed_by_row(table: pl.DataFrame, column: str) -> Array:
    """Statistics summed over the replicates of each segment, in order of the segments' row numbers."""
    statistics = rows_of(table[column])
    rows = table["row"].to_numpy()
    order = np.argsort(rows, kind="stable")
    starts = np.flatnonzero(np.diff(rows[order], prepend=-1))
    return np.add.reduceat(statistics[order], starts, axis=0)


def languages(language_pair: str | None) -> tuple[Language | None, Language | None]:
    """Source and target language of a pair such as `de-en`; None for what is no pair."""
    pair = LanguagePair.known(language_pair)
    return (pair.source, pair.target) if pair else (None, None)


def references_each(segments: pl.DataFrame) -> int | None:
    """How many references every segment has; None where that varies."""
    counts = segments["references"].list.len().fill_null(0).unique()
    return int(counts[0]) if len(counts) == 1 else None


AnyScorer = str | Scorer | Callable[..., Any]
"""A scorer by name, a scorer, or a function of translations, references and sources."""


def scorers_of(what: AnyScorer | Sequence[AnyScorer]) -> list[Scorer]:
    """The scorers that were meant, each once; alternatives in brackets are spelt out: `bertscore[layer=1|2]`.

    Two that differ but have one name would share their rows in every table: they are refused.
    """
    named: list[AnyScorer] = several(what)
    made = [scorer_of(each) for item in named for each in (expand(item) if isinstance(item, str) else [item])]
    if not made:
        raise UserError("no scorer is named: give at least one, such as chrf.")
    found: dict[str, Scorer] = {}
    for scorer in made:
        other = found.setdefault(scorer.name, scorer)
        if other is not scorer and (other.spec != scorer.spec or other.signature != scorer.signature):
            raise UserError(
                f"two scorers are called '{scorer.name}': {other.spec} and {scorer.spec}. "
                f"Give one of them another name: {scorer.spec.with_options(name='…')}."
            )
    return list(found.values())


def several(what: T | Sequence[T]) -> list[T]:
    """One thing or a list of them, as a list."""
    if isinstance(what, str) or not isinstance(what, Sequence):
        return [what]
    return list(what)
