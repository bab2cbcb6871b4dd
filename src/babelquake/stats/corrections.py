"""Adjusted p-values for families of tests. `None` or NaN means not tested: it stays NaN and the family is smaller."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from babelquake.errors import UserError

Array = NDArray[np.float64]


def benjamini_hochberg(p_values: Iterable[float | None]) -> Array:
    """Benjamini–Hochberg's step-up adjustment, which bounds the share of false findings (Benjamini & Hochberg 1995).

    With p₍₁₎ ≤ … ≤ p₍ₘ₎: adjusted p₍ᵢ₎ = min(1, min over j ≥ i of m/j · p₍ⱼ₎).
    """
    values = np.array([np.nan if p is None else p for p in p_values], dtype=np.float64)
    tested = np.flatnonzero(~np.isnan(values))
    family = values[tested]
    if np.any((family < 0) | (family > 1)):
        wrong = family[(family < 0) | (family > 1)][0]
        raise UserError(f"a p-value lies between 0 and 1; {wrong:g} was given.")
    order = np.argsort(family, kind="stable")
    steps = family[order] * family.size / np.arange(1, family.size + 1)
    adjusted = np.full(values.shape, np.nan)
    adjusted[tested[order]] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0)
    return adjusted
