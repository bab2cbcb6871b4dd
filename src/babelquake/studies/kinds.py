"""Kinds of numbers by name, as `kinds.yaml` lists them: `mt.ROBUST`, `shared.DELTA`."""

from collections.abc import Iterator
from dataclasses import replace

from babelquake.paths import table_of_room
from babelquake.runs.measures import CHANGED, Kind


class Kinds:
    """The kinds of one section, and those of others that belong to them."""

    def __init__(self, section: str, *others: Kind) -> None:
        own = (Kind(name, **said) for name, said in table_of_room("studies", "kinds")[section].items())
        self.by_name = {kind.name: kind for kind in (*others, *own)}

    def __getattr__(self, name: str) -> Kind:
        if name.lower() not in self.by_name:
            raise AttributeError(f"there is no kind of measure {name}")
        return self.by_name[name.lower()]

    def __iter__(self) -> Iterator[Kind]:
        return iter(self.by_name.values())


shared, agreement, judges, pitfalls = map(Kinds, ("shared", "agreement", "judges", "pitfalls"))
attack, human, qe = Kinds("attack"), Kinds("human"), Kinds("qe", agreement.PEARSON)
challenge = Kinds("challenge", shared.DETECTION_ACCURACY)
metric = Kinds(
    "metric", shared.ACES_SCORE, shared.ACHIEVED_WORDS, shared.DELTA, shared.DETECTION_ACCURACY, shared.SCORE
)
mt = Kinds("mt", shared.ACHIEVED_WORDS, shared.DELTA, shared.FAILURES, shared.FAILURES_PERTURBED)


def over_changed(kind: Kind) -> Kind:
    """The same number over the texts that the perturbation really changed: `robust` → `robust_changed`."""
    unit, label = (f"{said}, changed texts only" for said in (kind.unit, kind.label))
    return replace(kind, name=f"{kind.name}{CHANGED}", unit=unit, label=label, head="")
