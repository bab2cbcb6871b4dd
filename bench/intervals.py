"""How often do intervals of Δ and ROBUST hold the truth, where a perturbation leaves most translations as they are?

    python bench/intervals.py [TRIALS]     writes bench/results/intervals.json

Clean scores are normal; 85 % of segments keep theirs under noise, the others lose some of it. The percentile interval
stands beside the one that studies report (`babelquake.stats.intervals.bca_interval`).
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.random import Generator

from babelquake.stats.bootstrap import Array, bootstrap
from babelquake.stats.intervals import bca_interval
from babelquake.stats.testing import jackknife

RESULTS = Path(__file__).parent / "results" / "intervals.json"
UNCHANGED = 0.85
SIZES = (30, 50, 75, 100, 200, 400)
LOSSES: dict[str, Callable[[Generator, Array], Array]] = {
    "exponential": lambda rng, clean: np.minimum(rng.exponential(25, clean.size), 100),
    "share of the score": lambda rng, clean: rng.beta(0.7, 1.2, clean.size) * clean,
}
NUMBERS: dict[str, Callable[[Array], Array]] = {
    "delta": lambda sums: (sums[..., 1] - sums[..., 0]) / sums[..., 2],
    "robust": lambda sums: 100 * sums[..., 1] / sums[..., 0],
}


def segments(rng: Generator, n: int, losses: str) -> Array:
    """Clean score, score under noise and a one, for every segment."""
    clean = np.clip(rng.normal(50, 18, n), 1, 100)
    lost = np.where(rng.random(n) < UNCHANGED, 0.0, LOSSES[losses](rng, clean))
    return np.stack([clean, clean - lost, np.ones(n)], axis=1)


def coverage(n: int, losses: str, trials: int, resamples: int = 1000) -> dict[str, float]:
    """The share of trials whose interval holds the truth, by number and kind of interval."""
    truth = {
        name: float(number(segments(np.random.default_rng(1), 2_000_000, losses).sum(axis=0)))
        for name, number in NUMBERS.items()
    }
    inside = dict.fromkeys([f"{name}, {kind}" for name in NUMBERS for kind in ("percentile", "reported")], 0)
    for seed in range(trials):
        table = segments(np.random.default_rng([seed, n]), n, losses)
        differing = int((table[:, 0] != table[:, 1]).sum())
        for name, number in NUMBERS.items():
            drawn = bootstrap(number, [table], resamples, seed)
            plain = drawn.estimate()
            low, high = bca_interval(drawn, jackknife(number, [table]), differing)
            inside[f"{name}, percentile"] += plain.low <= truth[name] <= plain.high
            inside[f"{name}, reported"] += low <= truth[name] <= high
    return {name: count / trials for name, count in inside.items()}


if __name__ == "__main__":
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    found = {f"{losses}, n = {n}": coverage(n, losses, trials) for losses in LOSSES for n in SIZES}
    RESULTS.write_text(json.dumps({"trials": trials, "coverage": found}, indent=1, ensure_ascii=False) + "\n", "utf-8")
