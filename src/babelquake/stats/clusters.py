"""Which systems differ, and which belong together: WMT's rank-sum matrix and clusters."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from babelquake.stats.groups import Array
from babelquake.stats.ranks import rank_sum


@dataclass(frozen=True)
class Place:
    """Where a system stands: the systems it beats, and the first and last rank of its cluster, from 1."""

    wins: int
    first: int
    last: int


def rank_sum_matrix(samples: Sequence[ArrayLike]) -> Array:
    """One-sided p-values: row i, column j says how easily chance puts sample i above sample j; NaN on the diagonal.

    Wilcoxon's rank-sum test as the WMT findings use it on segment means, normal approximation with continuity
    correction beyond tiny samples.
    """
    p = np.full((len(samples), len(samples)), np.nan)
    for one, other in np.ndindex(p.shape):
        if one != other:
            p[one, other] = rank_sum(samples[one], samples[other], "greater").p
    return p


def clusters(p: Array, alpha: float = 0.05) -> list[Place]:
    """Places of systems given in order, best first, from their matrix of p-values.

    A cluster ends where every system above beats every system below (WMT findings since 2013).
    """
    beats: NDArray[np.bool_] = p < alpha
    systems = len(p)
    ends = [place for place in range(1, systems) if beats[:place, place:].all()]
    bounds = [0, *ends, systems]
    places = []
    for first, last in pairwise(bounds):
        places += [Place(int(beats[system].sum()), first + 1, last) for system in range(first, last)]
    return places
