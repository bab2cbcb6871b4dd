"""Families of tests: step-down max-T on draws that the tests share (Westfall & Young 1993, Algorithm 2.8).

Each test's difference is put in units of its own spread under the null hypothesis, Tⱼ = |δⱼ|/σⱼ, and so is every draw.
With T₍₁₎ ≥ … ≥ T₍ₘ₎, the adjusted p₍ᵢ₎ is how often the largest of T*₍ᵢ₎ … T*₍ₘ₎ reaches T₍ᵢ₎ in one draw, and no
smaller than p₍ᵢ₋₁₎. Because the draws are shared, tests that go up and down together cost little, and the smallest
reachable p is 1/(draws + 1) however many tests there are (under Holm's correction it grows with their number).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from babelquake.stats.pvalues import at_least, extremity, smallest_p
from babelquake.stats.testing import Test

Array = NDArray[np.float64]
ALPHA = 0.05


@dataclass(frozen=True)
class Outcome:
    """What a test says within its family. `reason` tells in words why a test cannot decide."""

    p: float | None
    p_corrected: float | None
    testable: bool = True
    reason: str | None = None
    visible: float | None = None
    """The smallest difference that would have been significant; None where nothing differs or nothing can be said."""


def corrected(tests: Sequence[Test], alpha: float = ALPHA) -> list[Outcome]:
    """The outcome of every test of a family, in the order given.

    Tests that no result could have made significant – too few segments, too few draws, nothing defined – say so and
    stay out of the family; where nothing differs, p is 1 and there is nothing to correct.
    """
    outcomes: dict[int, Outcome] = {}
    family: list[int] = []
    for number, test in enumerate(tests):
        if test.method == "nothing differs":
            outcomes[number] = Outcome(1.0, 1.0)
        elif (reason := _hopeless(test, alpha)) is not None:
            outcomes[number] = Outcome(None if np.isnan(test.p) else test.p, None, False, reason)
        else:
            family.append(number)
    if family:
        members = [tests[number] for number in family]
        outcomes |= dict(zip(family, _step_down(members, alpha), strict=True))
    return [outcomes[number] for number in range(len(tests))]


def _hopeless(test: Test, alpha: float) -> str | None:
    """Why no result of this test could be significant, if so."""
    if np.isnan(test.p):
        return "the difference is not defined on these segments."
    if test.smallest >= alpha:
        return f"{test.segments} segments: no p-value below {test.smallest:.2g} is possible."
    if 1 / (test.null.size + 1) >= alpha:
        return f"{test.null.size} resamples: no p-value below {1 / (test.null.size + 1):.2g} is possible."
    return None


def _step_down(tests: Sequence[Test], alpha: float) -> list[Outcome]:
    sizes = np.array([standardised(test)[0] for test in tests])
    order = np.argsort(-sizes, kind="stable")
    draws = min(test.null.size for test in tests)
    largest = np.full(draws, -np.inf)
    adjusted, floors, visible = np.empty(len(tests)), np.empty(len(tests)), np.empty(len(tests))
    for place in order[::-1]:
        drawn = standardised(tests[place])[1][:draws]
        np.maximum(largest, np.where(np.isnan(drawn), -np.inf, drawn), out=largest)
        adjusted[place] = _share(largest, sizes[place])
        floors[place] = _share(largest, np.sqrt(tests[place].segments))
        critical = np.quantile(largest, 1 - alpha, method="higher") if alpha < 1 else 0.0
        visible[place] = critical * _unit(tests[place], sizes[place])
    adjusted[order] = np.maximum.accumulate(adjusted[order])
    found = []
    for test, p, floor, least in zip(tests, adjusted, floors, visible, strict=True):
        final = max(float(p), test.p)
        if final >= alpha and floor >= alpha:
            reason = (
                f"{test.segments} segments are too few among {len(tests)} tests: no p below {floor:.2g} is possible."
            )
            found.append(Outcome(test.p, final, False, reason))
        else:
            found.append(Outcome(test.p, final, visible=_known(test, float(least), final >= alpha, alpha)))
    return found


def standardised(test: Test) -> tuple[float, Array]:
    """|δ| and |δ*| in units of the null distribution's spread; signed where one side alone would be a finding.

    n segments of equal weight that all point the same way have T = √n, and no sum of contributions can have more. Where
    Student's t says how sure a difference is, |δ| is no larger than the normal deviate that is as sure.
    """
    from scipy.special import ndtri

    drawn, unit = test.null, spread(test)
    if unit <= 1e-12 * abs(test.value):
        return float(np.inf) * float(np.sign(extremity(test.value, test.alternative))), np.zeros_like(drawn)
    sides = 2 if test.alternative == "two-sided" else 1
    most = -float(ndtri(test.student / sides)) if test.student else np.inf
    size = min(float(extremity(test.value / unit, test.alternative)), most)
    return size, extremity(drawn / unit, test.alternative)


def _unit(test: Test, size: float) -> float:
    """The difference that counts as 1 where the observed one counts as `size`."""
    return abs(test.value) / size if test.student and size > 0 else spread(test)


def _known(test: Test, visible: float, missed: bool, alpha: float) -> float | None:
    """The smallest difference that would have been significant; None where the data do not tell it.

    They do not where so few segments differ that no size of their differences would have been enough, and where a
    difference of that size is there and is not significant.
    """
    few = test.method != "bootstrap" and missed and smallest_p(test.changed, test.alternative) >= alpha
    return None if few or not np.isfinite(visible) or (missed and visible <= abs(test.value)) else visible


def spread(test: Test) -> float:
    """How far chance alone takes a difference from 0, as a standard deviation."""
    known = test.null[np.isfinite(test.null)]
    return float(np.sqrt(np.mean(known**2)))


def _share(drawn: Array, bound: float) -> float:
    return (int(at_least(drawn, bound).sum()) + 1) / (drawn.size + 1)
