"""How much more data would a rank-sum test need?"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from babelquake.stats.ranks import rank_sum


@dataclass(frozen=True)
class Needed:
    """The size at which a difference like the observed one is likely to be found."""

    superiority: float
    """P(first > second) + ½ P(equal), as observed."""
    each: float
    """Scores needed on each side; infinite where the observed difference is nil or points the other way."""


def rank_sum_size(first: ArrayLike, second: ArrayLike, alpha: float = 0.05, power: float = 0.8) -> Needed:
    """Scores per side for which a one-sided rank-sum test finds `first` above `second` with the given power.

    Noether (1987, eq. 12): N = (z_α + z_β)² / (12 c (1 − c)(p − ½)²) scores in all, with half on each side, taking the
    observed p = P(first > second) for the true one.
    """
    from scipy.special import ndtri

    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    superiority = rank_sum(one, two).statistic / (one.size * two.size)
    if superiority <= 0.5:
        return Needed(superiority, math.inf)
    quantiles = float(ndtri(1 - alpha) + ndtri(power))
    everything = quantiles**2 / (12 * 0.25 * (superiority - 0.5) ** 2)
    return Needed(superiority, math.ceil(everything / 2))
