"""What the labels on a page are called on the command line and in the data: shown when a pointer rests on one."""

from collections.abc import Sequence

from babelquake.report.phrases import labelled
from babelquake.report.results import scorer_text, short_names
from babelquake.report.verdict import sentence_case
from babelquake.runs.run import Run
from babelquake.studies.card import STUDIES


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
