"""Statistics in tables: rows of numbers to and from list columns, and small joins that studies share."""

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from babelquake.perturb.linguistics import vocabulary_of
from babelquake.scorers.base import Array, Scorer


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


def languages(language_pair: str | None) -> tuple[str | None, str | None]:
    """Source and target language of a pair such as `de-en`."""
    source, _, target = (language_pair or "").partition("-")
    return source or None, target or None


def references_each(segments: pl.DataFrame) -> int | None:
    """How many references every segment has; None where that varies."""
    counts = segments["references"].list.len().fill_null(0).unique()
    return int(counts[0]) if len(counts) == 1 else None


def scorer_signatures(judges: Sequence[Scorer], references: int | None) -> dict[str, str]:
    """The scorers' signatures for run.json."""
    return {f"scorer {judge.name}": judge.signature_for(references) for judge in judges}


def lower_is_better(judges: Sequence[Scorer]) -> list[str]:
    """The scorers that count errors: readers of a run must know which way its numbers point."""
    return [judge.name for judge in judges if not judge.higher_is_better]


def vocabularies(
    segments: pl.DataFrame, column: str, language: Callable[[str | None], str | None]
) -> dict[str | None, list[str]]:
    """The words of each language's own texts: what `word-insert` and `word-replace` draw from (Kanojia §5.2)."""
    texts: dict[str | None, list[str]] = {}
    for (pair,), part in segments.group_by("language_pair", maintain_order=True):
        texts.setdefault(language(pair), []).extend(part[column].fill_null(""))
    return {lang: vocabulary_of(some) for lang, some in texts.items()}
