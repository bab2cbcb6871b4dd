"""A study's card: its name, its question, what it measures, and which falls a gate must stop.

The card is all that readers need to know of a study without running it. A new study is one folder here with its card
and its steps, one file under `report/pages/` and one under `cli/`; other packages bring theirs through the entry-point
groups `babelquake.studies`, `babelquake.pages` and `babelquake.commands`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from babelquake.errors import UserError
from babelquake.registry import Registry
from babelquake.runs.findings import Finding, in_order
from babelquake.runs.measures import Kind
from babelquake.runs.run import Run
from babelquake.scorers import Scorer
from babelquake.studies.cells import Cell
from babelquake.studies.kinds import over_changed
from babelquake.studies.options import RunOptions
from babelquake.studies.plan import Plan
from babelquake.studies.session import Session

Cells = Callable[[Run, list[Scorer], int, int], Iterable[Cell]]
"""From a finished run, its scorers, a number of resamples and a seed."""


@dataclass(frozen=True)
class Study:
    """A protocol: perturb, translate or score, compare."""

    name: str
    options: type[RunOptions]
    """What it can be told."""
    question: str
    inputs: tuple[str, ...] = ()
    """What the data must have, whatever else is asked: columns, `a|b` where either will do."""
    measures: tuple[Kind, ...] = ()
    gated: tuple[str, ...] = ()
    """Measures that must not get worse between two runs."""
    alike: tuple[str, ...] = ()
    """Options that two runs must share for their numbers to mean the same."""
    subject: Literal["system", "scorer"] = "scorer"
    """What is under test."""
    cells: Cells = lambda run, scorers, resamples, seed: ()
    """The cells of a finished run, worked out again from its tables: what paired comparisons between runs need."""
    placed: Callable[[Run, dict[str, Any]], dict[str, Any]] = lambda run, row: row
    """A row of a finished run's measures with the system under test in the column of systems."""
    overall: Callable[[Sequence[tuple[Cell, Cell]]], Iterable[tuple[Cell, Cell]]] = lambda pairs: ()
    """Cells of what two runs say overall, old and new, from their other cells in pairs."""
    plan: Callable[[Any], Plan] | None = None
    """What a run with these options will do; None for a study that asks nobody anything."""
    findings: Callable[[Run], list[Finding]] = lambda run: []
    """What a run's measures say, as data; `report` puts it into words."""
    counts: Callable[[Run, str, str | None], bool] = lambda run, measure, perturbation: True
    """Whether a gated measure under a perturbation is one that must not get worse."""

    def label(self, measure: str) -> str:
        """What people call one of its measures, also where it is a difference or over changed texts alone."""
        kinds = {made.name: made for kind in self.measures for made in (over_changed(kind), kind.difference(), kind)}
        return kinds[measure].label if measure in kinds else measure.replace("_", " ")

    def session(self, plan: Plan, **resolved: Any) -> Session:
        """Begin the run that was planned, or continue the one of the same options.

        `resolved` says what options turned out to mean: the names of models that stand in, say.
        """
        for either in self.inputs:
            if not any(plan.data.has(name) for name in either.split("|")):
                lacking = either.replace("|", " and no ")
                raise UserError(f"{plan.data.name} has no {lacking}, which the study {self.name} needs.")
        return Session(self.name, plan, resolved)


def findings_of(run: Run) -> list[Finding]:
    """What a run found: as it was stored, or worked out from its measures where an earlier version made the run."""
    if run.info.findings is not None:
        return run.info.findings
    return in_order(STUDIES.get(run.info.study).findings(run))


def function_of(study: str) -> Callable[..., Run]:
    """The function that runs a study of ours: it is called like it."""
    found: Callable[..., Run] = getattr(import_module(f"babelquake.studies.{study}.study"), study)
    return found


STUDIES: Registry[Study] = Registry(
    "study",
    "babelquake.studies",
    {
        "attack": "babelquake.studies.attack.study:ATTACK",
        "challenge": "babelquake.studies.challenge.study:CHALLENGE",
        "check": "babelquake.studies.check.study:CHECK",
        "correlate": "babelquake.studies.correlate.study:CORRELATE",
        "human": "babelquake.studies.human.study:HUMAN",
        "metric": "babelquake.studies.metric.study:METRIC",
        "mt": "babelquake.studies.mt.study:MT",
        "qe": "babelquake.studies.qe.study:QE",
    },
)
