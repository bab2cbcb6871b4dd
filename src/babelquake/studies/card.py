"""A study's card: its name, its question, what it measures, and which falls a gate must stop.

The card is all that readers need to know of a study without running it. A new study is one folder here with its card
and its steps, one folder under `report/` and one file under `cli/`; other packages bring theirs through the entry-point
groups `babelquake.studies`, `babelquake.pages` and `babelquake.commands`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from babelquake.data import Dataset
from babelquake.engine import Engine
from babelquake.perturb.suite import Suite
from babelquake.registry import Registry
from babelquake.runs.measures import Kind
from babelquake.scorers import Scorer
from babelquake.studies.session import Session


@dataclass(frozen=True)
class Study:
    """A protocol: perturb, translate or score, compare."""

    name: str
    question: str
    measures: tuple[Kind, ...] = ()
    gated: tuple[str, ...] = ()
    """Measures whose fall between two runs is a regression."""

    def session(
        self,
        out: Path | str,
        *,
        data: Dataset,
        scorers: list[Scorer],
        suite: Suite | None = None,
        seed: int = 0,
        resamples: int = 2000,
        restart: bool = False,
        engine: Engine | None = None,
        **config: Any,
    ) -> Session:
        """Begin a run of this study, or continue the one of the same configuration."""
        return Session(self.name, out, data, scorers, suite, seed, resamples, restart, engine or Engine(), config)


STUDIES: Registry[Study] = Registry(
    "study",
    "babelquake.studies",
    {
        "attack": "babelquake.studies.attack.study:ATTACK",
        "correlate": "babelquake.studies.correlate.study:CORRELATE",
        "human": "babelquake.studies.human.study:HUMAN",
        "metric": "babelquake.studies.metric.study:METRIC",
        "mt": "babelquake.studies.mt.study:MT",
        "qe": "babelquake.studies.qe.study:QE",
    },
)
