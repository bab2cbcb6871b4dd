"""A bound for differences that are lopsided: few large falls among many small gains, say.

Flipping signs is exact where a difference is as likely to be positive as negative. Where the differences have a mean of
zero but a long tail on one side, it finds too much: .08 instead of .05 with ten exponential differences. Hall's cubic
transformation of Student's t (Hall 1992, "On the removal of skewness by transformation") takes the tail's effect out.

Differences that are all of one size, such as wins and losses, have no tail: with a mean of zero they are as likely to
be positive as negative, and their skewness in the sample says only how far from zero the mean is. Taken for a tail it
would forbid nearly every finding (2 wins of 18: .12 in place of .001; at nominal .05 and 18 of them .000 of findings
where there is nothing to find, without it .026). So theirs counts as 0.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from babelquake.stats.pvalues import Alternative

LEAST = 3
"""Differences from which on a third moment says anything."""


def unskewed_p(contributions: ArrayLike, alternative: Alternative = "two-sided") -> float:
    """Student's p-value of a mean with the skewness γ taken out; 0, which bounds nothing, where there is no spread.

    g(T) = T + γT²/(3√n) + γ²T³/(27n) + γ/(6√n), T = √n·mean/sd, against Student's t with n − 1 degrees of freedom.
    Nothing is drawn, so the seed changes nothing.
    """
    from scipy.special import stdtr

    values = np.asarray(contributions, dtype=np.float64)
    n = values.size
    if n < LEAST:
        return 0.0
    centred = values - values.mean()
    variance = float(np.mean(centred**2))
    if variance <= (1e-9 * np.abs(values).max()) ** 2:
        return 0.0
    t = float(values.mean() * np.sqrt((n - 1) / variance))
    skew = 0.0 if _one_size(values) else float(np.mean(centred**3)) / variance**1.5 / np.sqrt(n)
    g = t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6
    above = float(stdtr(n - 1, -g))
    return {"two-sided": 2 * min(above, 1 - above), "greater": above, "less": 1 - above}[alternative]


def _one_size(values: NDArray[np.float64]) -> bool:
    """Whether all that differ from zero differ by the same."""
    sizes = np.abs(values[values != 0])
    return bool(np.ptp(sizes) <= 1e-9 * sizes.max())
