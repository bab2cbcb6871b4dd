"""What a study shows of its runs: tables, charts and examples. One page per study; its verdict is in `verdict`.

What every page may show beside it: what was found wrong with the test set itself (Jwalapuram 2023 §3.1), and what the
labels on it are called on the command line and in the data.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import polars as pl

from babelquake.registry import Registry
from babelquake.report.charts import Chart, View
from babelquake.report.names import labelled, scorer_text, short_names
from babelquake.report.table import Table
from babelquake.report.verdict import Words, sentence_case
from babelquake.runs.run import Run
from babelquake.studies.card import STUDIES

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
    one_scale: bool = False
    """Whether the damage that different scorers see is on one scale already."""
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
        "attack": "babelquake.report.pages.attack:PAGE",
        "challenge": "babelquake.report.pages.challenge:PAGE",
        "check": "babelquake.report.pages.check:PAGE",
        "correlate": "babelquake.report.pages.correlate:PAGE",
        "human": "babelquake.report.pages.human:PAGE",
        "metric": "babelquake.report.pages.metric:PAGE",
        "mt": "babelquake.report.pages.mt:PAGE",
        "qe": "babelquake.report.pages.qe:PAGE",
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


SHARES = {
    "mismatched_endings": "source and reference end in different kinds of marks",
    "duplicate_sources": "duplicate sources",
    "blank_sources": "blank sources",
}
ENDINGS = {
    "stop": "a full stop",
    "question": "a question mark",
    "exclamation": "an exclamation mark",
    "other": "another mark",
    "none": "no mark",
}
NOTE = "Segments whose source and reference end differently make punctuation results hard to read."


def audit_facts(run: Run) -> dict[str, str]:
    """What was looked at → what was found; empty where a run kept no audit. Without references no endings differ."""
    if (found := run.info.facts.audit) is None:
        return {}
    shares = {text: f"{share:.1f} %" for name, text in SHARES.items() if (share := getattr(found, name)) is not None}
    counts = found.endings
    ends = [f"{text} {counts[kind]:,}" for kind, text in ENDINGS.items() if counts.get(kind)]
    return {**shares, "sources end in": ", ".join(ends)} if ends else shares


def audit_tables(run: Run) -> list[Table]:
    """The same as a table, or none."""
    found = audit_facts(run)
    return [Table("Test set", ("what", "found"), tuple(found.items()), NOTE)] if found else []


def typed_names(*runs: Run) -> dict[str, str]:
    """Every label of these runs – perturbations, systems, scorers, measures – that is not itself the typed name."""
    found: dict[str, str] = {}
    for run in runs:
        measures = run.measures
        named = labelled(measures["perturbation"])
        for perturbation, level in measures.select("perturbation", "level").unique(maintain_order=True).iter_rows():
            if perturbation:
                found.setdefault(named(perturbation, level), typed(perturbation, level))
                found.setdefault(named(perturbation, None), perturbation)
        found |= {probe.title: name for name, probe in run.info.facts.probes.items()}
        found |= {short: whole for whole, short in short_names(_names(run, "system", "other")).items()}
        scorers = _names(run, "scorer")
        found |= {scorer_text(name, scorers): name for name in scorers}
        for kind in STUDIES.get(run.info.study).measures:
            found[kind.label] = kind.name
            if kind.head:
                found.setdefault(kind.head, f"{kind.label}: {kind.name}")
    found |= {sentence_case(label): name for label, name in found.items() if sentence_case(label) not in found}
    return {label: name for label, name in found.items() if label and label != name}


def typed(perturbation: str, level: float | None) -> str:
    """A perturbation at a level, as the command line takes it."""
    if level is None:
        return perturbation
    return f"{perturbation[:-1]},level={level:g}]" if perturbation.endswith("]") else f"{perturbation}[level={level:g}]"


def _names(run: Run, *columns: str) -> Sequence[str]:
    found = dict.fromkeys(name for column in columns for name in run.measures[column].drop_nulls())
    return list(found)
