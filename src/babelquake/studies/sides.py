"""Clean and perturbed statistics of the same texts, as tables with one row per segment: one is in memory at a time."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from babelquake.scorers.base import Array
from babelquake.stats.resampling import Keys
from babelquake.studies.columns import rows_of
from babelquake.studies.units import Places, by_unit

Chosen = NDArray[np.bool_] | None
"""Which of the perturbed texts are meant; None for all."""


class Sides:
    """Perturbed texts of one place (`noisy`) and the clean ones they came from; both have columns row, statistics."""

    def __init__(self, noisy: pl.LazyFrame, clean: pl.LazyFrame, rows: Places, keys: Keys) -> None:
        self.noisy, self.clean, self.rows = noisy, clean, rows
        self.keys = keys[rows]

    def perturbed(self, column: str, chosen: Chosen = None) -> Array:
        """A column of statistics of the perturbed texts."""
        return self._by_segment(rows_of(self.noisy.select(column).collect()[column]), chosen)

    def baseline(self, times: Places | None = None, chosen: Chosen = None) -> Array:
        """Statistics of the clean texts, each as often as it was perturbed, or as `times` says."""
        found = self.clean.select("row", "statistics").collect()
        order = np.argsort(found["row"].to_numpy())
        at = order[np.searchsorted(found["row"].to_numpy()[order], self.rows)]
        statistics = rows_of(found["statistics"])[at]
        return self._by_segment(statistics if times is None else statistics * times[:, None], chosen)

    def _by_segment(self, statistics: Array, chosen: Chosen) -> Array:
        if chosen is None:
            return by_unit(self.keys, statistics)[1]
        return by_unit(self.keys[chosen], statistics[chosen])[1]
