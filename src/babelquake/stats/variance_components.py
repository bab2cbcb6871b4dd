"""How much of the variance of a table is due to its columns, to its rows and to the rest, with intervals.

For a table y[row, column] without gaps, such as scores by source and prompt, and the random model
y = µ + row + column + rest, the mean squares estimate the variances (Searle, Casella & McCulloch 1992 §4.3):
σ²(column) = (MS columns − MS rest) / rows, σ²(row) = (MS rows − MS rest) / columns. Intervals come from the χ²
distribution of the mean squares: that over columns is wide where there are few of them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
LEVEL = 0.95


class Component(NamedTuple):
    """A standard deviation and its interval."""

    value: float
    low: float
    high: float


def components(table: Array) -> tuple[Component, Component, Component]:
    """Standard deviations of the columns' effects, of the rows' effects and of the rest, with 95 % intervals."""
    rows, columns = table.shape
    mean, of_rows, of_columns = table.mean(), table.mean(axis=1), table.mean(axis=0)
    rest = table - of_rows[:, None] - of_columns[None, :] + mean
    freedom = (rows - 1) * (columns - 1)
    noise = float((rest**2).sum() / freedom)
    by_column = float(rows * ((of_columns - mean) ** 2).sum() / (columns - 1))
    by_row = float(columns * ((of_rows - mean) ** 2).sum() / (rows - 1))
    return (
        _component(by_column, columns - 1, noise, rows),
        _component(by_row, rows - 1, noise, columns),
        _component(noise, freedom, 0.0, 1),
    )


def _component(square: float, freedom: int, noise: float, times: int) -> Component:
    from scipy.special import gammaincinv

    # twice the quantile of a gamma distribution is that of χ²
    ends = [square * freedom / float(2 * gammaincinv(freedom / 2, p)) for p in ((1 + LEVEL) / 2, (1 - LEVEL) / 2)]
    value, low, high = (float(np.sqrt(max(0.0, one - noise) / times)) for one in (square, *ends))
    return Component(value, low, high)
