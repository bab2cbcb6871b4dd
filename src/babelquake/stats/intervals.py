"""95 % intervals by formula, where nothing needs to be drawn."""

import math

import numpy as np
from numpy.typing import NDArray

Z = 1.959963984540054
"""The normal curve leaves 2.5 % beyond it."""


def wilson(successes: int, n: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927): sensible at 0 and 1, where the usual one is not."""
    if not n:
        return math.nan, math.nan
    share, z2 = successes / n, Z * Z
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def mean_interval(differences: NDArray[np.float64]) -> tuple[float | None, float | None]:
    """The mean ± 1.96 standard errors; nothing for a single difference."""
    if differences.size < 2:
        return None, None
    error = Z * float(np.std(differences, ddof=1)) / differences.size**0.5
    return float(differences.mean()) - error, float(differences.mean()) + error
