"""Clean and perturbed statistics of the same texts, as tables with one row per segment: one is in memory at a time."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from babelquake.runs.chunks import Part
from babelquake.scorers.base import Array
from babelquake.stats.resampling import Keys
from babelquake.stats.units import Places, by_unit

Chosen = NDArray[np.bool_] | None
"""Which of the perturbed texts are meant; None for all."""


class Sides:
    """Perturbed texts of one place and the clean ones they came from, in one table with columns row, statistics."""

    def __init__(self, table: pl.LazyFrame, noisy: pl.Expr, clean: pl.Expr, index: Sequence[str], keys: Keys) -> None:
        self.noisy, self.clean = Part(table, noisy, index), Part(table, clean, ["row"])
        self.rows = self.noisy.index["row"].to_numpy()
        self.keys = keys[self.rows]

    def perturbed(self, column: str, chosen: Chosen = None) -> Array:
        """A column of statistics of the perturbed texts."""
        return self.by_segment(self.noisy.statistics(column), chosen)

    def baseline(self, times: Places | None = None, chosen: Chosen = None) -> Array:
        """Statistics of the clean texts, each as often as it was perturbed, or as `times` says."""
        statistics = self.of_clean()
        if times is not None:
            statistics *= times[:, None]
        return self.by_segment(statistics, chosen)

    def of_clean(self) -> Array:
        """For each perturbed text the statistics of the clean one it came from."""
        rows = self.clean.index["row"].to_numpy()
        order = np.argsort(rows)
        at = order[np.searchsorted(rows[order], self.rows)]
        return self.clean.statistics("statistics")[at]

    def by_segment(self, statistics: Array, chosen: Chosen) -> Array:
        """Statistics of texts summed by segment, of all texts or of those chosen."""
        if chosen is None:
            return by_unit(self.keys, statistics)[1]
        return by_unit(self.keys[chosen], statistics[chosen])[1]
