"""95 % intervals: by formula, and from resamples of numbers whose contributions have a long tail."""

import math

import numpy as np
from numpy.typing import NDArray

from babelquake.stats.bootstrap import Resampled

Z = 1.959963984540054
"""The normal curve leaves 2.5 % beyond it."""
LEAST = 50
"""Segments below which no interval of a lopsided number holds the truth as often as it says."""


def wilson(successes: float, n: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927): sensible at 0 and 1, where the usual one is not."""
    if not n:
        return math.nan, math.nan
    share, z2 = successes / n, Z * Z
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    low = 0.0 if successes == 0 else max(0.0, middle - half)  # exactly, where rounding would leave 1e-17
    return low, 1.0 if successes == n else min(1.0, middle + half)


def mean_interval(differences: NDArray[np.float64]) -> tuple[float | None, float | None]:
    """The mean ± 1.96 standard errors; nothing for a single difference."""
    if differences.size < 2:
        return None, None
    error = Z * float(np.std(differences, ddof=1)) / differences.size**0.5
    return float(differences.mean()) - error, float(differences.mean()) + error


def bca_interval(drawn: Resampled, contributions: NDArray[np.float64], differing: int) -> tuple[float, float]:
    """The bias-corrected and accelerated percentile interval (Efron 1987), with Student's t in place of the normal z.

    A perturbation that leaves most translations as they are makes Δ a mean of many zeros and a few large losses, whose
    percentile interval is too short: with 85 % unchanged it holds the truth in .87 of cases at 50 segments.
    Bias correction and acceleration, from the jackknife's `contributions`, move its ends outwards on the side of the
    tail; t has as many degrees of freedom as segments differ, less one: .94 to .95 at 50 (`bench/intervals.py`).
    """
    from scipy.special import ndtr, ndtri, stdtrit

    known = drawn.values[np.isfinite(drawn.values)]
    if not known.size or not np.isfinite(drawn.value):
        return math.nan, math.nan
    below = (np.sum(known < drawn.value) + np.sum(known == drawn.value) / 2) / known.size
    bias = float(ndtri(np.clip(below, 1 / (known.size + 1), known.size / (known.size + 1))))
    centred = contributions - contributions.mean()
    squares = float(np.sum(centred**2))
    acceleration = float(np.sum(centred**3)) / (6 * squares**1.5) if squares > 0 else 0.0
    shifted = bias + float(stdtrit(max(differing - 1, 1), 0.975)) * np.array([-1.0, 1.0])
    places = ndtr(bias + shifted / np.maximum(1 - acceleration * shifted, 1e-9))
    low, high = np.quantile(known, places)
    return float(low), float(high)


def rate_sd(count: float, n: int) -> float:
    """The standard deviation of a share: √(p(1 − p)/n)."""
    return math.sqrt(count * (n - count) / n) / n
