"""What a study shows of its runs: tables, charts and examples. One page per study; its verdict is in `verdict`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import polars as pl

from babelquake.registry import Registry
from babelquake.report.charts import Chart, View
from babelquake.report.table import Table
from babelquake.report.verdict import Words
from babelquake.runs.run import Run

LISTED = ("system", "scorer", "perturbation", "level", "drop", "original", "text", "before", "after", "errors")


@dataclass(frozen=True)
class Examples:
    """The texts behind the numbers."""

    rows: Callable[[Run, pl.Expr], pl.LazyFrame]
    """Every judged variant with its damage: columns row, id, perturbation, level, before, after, drop, `who` …

    The expression says which rows of the run's tables are meant: a large run has too many to join the texts of all.
    """
    who: str
    """The column that names what is under test: system or scorer."""
    columns: Callable[[Run, pl.DataFrame], dict[str, Any]]
    """Chosen rows as the page's script reads them: facets, texts, damage."""
    sides: tuple[str, str] = ("before", "after")
    """What the first screen calls the two texts of an example."""
    kind: str = "perturbation"
    """The column that says what an example is an example of: no two of one kind are on the first screen."""
    titled: Callable[[str], str] | None = None
    """A kind in plain words; perturbations have their own."""
    commonest: bool = False
    """Whether the commonest kinds come first rather than the most damaged examples."""
    title: str = "Worst breaks"
    """What the examples of the first screen are examples of."""
    listed: Mapping[str, str] = field(default_factory=lambda: {name: name for name in LISTED})
    """The columns that a table of examples has, each with its heading; those with nothing in them are left out."""


class Advice(NamedTuple):
    """One line of what to do."""

    title: str
    loss: str
    """How bad it is, in brackets behind the title; empty where no figure says it."""
    advice: str
    measured: str = ""
    """What the best of the defences that were run won back; empty where none was."""
    helped: bool = False
    """Whether that is worth naming."""
    untried: str = ""
    """The option that would measure the usual remedy; empty where it was measured or something else helped."""
    page: str = ""
    """The page of the documentation that says more."""


@dataclass(frozen=True)
class Page:
    """What a report shows of a run of one study."""

    tables: Callable[[Run], list[Table]]
    """The tables people want to read first, in order."""
    views: Callable[[Run], list[View]] = lambda run: []
    """The charts, grouped as they are read."""
    examples: Examples | None = None
    views_by: str = "Language pair"
    """What tells the views apart, as the page labels the choice."""
    compared: tuple[str, ...] = ()
    """Measures in the heat map of two runs; without any, those that a gate looks at."""
    question: Callable[[Run], str | None] = lambda run: None
    """What this run asks, where it is not what its study asks as a rule."""
    lead: Callable[[Run], Chart | None] | None = None
    """The one chart of the first screen; without it the first chart there is."""
    advice: Callable[[Run], list[Advice]] = lambda run: []
    """What to do about what was found, on the first screen."""
    words: Mapping[str, Words] = field(default_factory=dict)
    """Words for kinds of findings that only this study has, in packages that bring one; ours are in `verdict`."""


PAGES: Registry[Page] = Registry(
    "report page",
    "babelquake.pages",
    {
        "attack": "babelquake.report.attack.page:PAGE",
        "challenge": "babelquake.report.challenge.page:PAGE",
        "check": "babelquake.report.check.page:PAGE",
        "correlate": "babelquake.report.correlate.page:PAGE",
        "human": "babelquake.report.human.page:PAGE",
        "metric": "babelquake.report.metric.page:PAGE",
        "mt": "babelquake.report.mt.page:PAGE",
        "qe": "babelquake.report.qe.page:PAGE",
    },
)


def page_of(run: Run) -> Page:
    """The page of the study that made a run."""
    return PAGES.get(run.info.study)


def tables(run: Run) -> list[Table]:
    """The tables of a run."""
    return page_of(run).tables(run)


def views(run: Run) -> list[View]:
    """The charts of a run."""
    return page_of(run).views(run)
