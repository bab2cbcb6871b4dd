"""The parity segments, the small checkpoints and the official scores, for the tests of neural scorers."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from babelquake.scorers import Questions, Scorer

SCRIPTS = Path(__file__).parents[2] / "scripts" / "parity"
CLOSE = 1e-5
"""How far a score may be from the official one in float32."""


def module(name: str) -> Any:
    """A module of `scripts/parity`, which is not a package."""
    if str(SCRIPTS) not in sys.path:
        sys.path.insert(0, str(SCRIPTS))
    return __import__(name)


def questions() -> Questions:
    """The 240 segments that the official implementations judged."""
    rows = module("judged_segments").segments()
    return Questions([row.translation for row in rows], [[row.reference] for row in rows], [row.source for row in rows])


def official(scorer: str) -> dict[str, Any]:
    """What the official implementation gave."""
    found: dict[str, Any] = module("golden").kept(scorer)
    return found


def off_by(scorer: Scorer, expected: list[float]) -> float:
    """The largest difference from the official scores."""
    scores = scorer.score_rows(scorer.statistics(questions()))
    assert len(scores) == len(expected) >= 200
    return float(np.abs(scores - np.array(expected)).max())


Made = Callable[[str, str], Path]
"""Gives the folder of a small checkpoint: by kind (comet, bleurt, transquest, metricx) and name."""


def make(kind: str, name: str, folder: Path) -> Path:
    """Write a small checkpoint."""
    maker = getattr(module("checkpoints_comet" if kind == "comet" else "checkpoints_other"), kind)
    made: Path = maker(folder) if kind == "metricx" else maker(name, folder)
    return made
