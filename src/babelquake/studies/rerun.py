"""Whether a run that was made again has the same numbers, and if not, what else is different."""

from dataclasses import dataclass

import polars as pl

from babelquake.runs.measures import NAMES
from babelquake.runs.run import Run

CLOCK = "milliseconds"
"""A measure that no two runs agree in."""
NUMBERS = ("value", "sd", "low", "high", "p", "p_corrected", "n")


@dataclass(frozen=True)
class Differences:
    """What differs between a run and its repetition."""

    measures: int
    """How many measures were compared."""
    numbers: tuple[str, ...]
    """Measures whose numbers differ, or that only one of the runs has, in words."""
    causes: tuple[str, ...]
    """Versions, signatures and data that differ."""

    @property
    def same(self) -> bool:
        """Whether every number is the same."""
        return not self.numbers


def differences(old: Run, new: Run) -> Differences:
    """Compare all measures, to the last digit, and everything they were made with."""
    first, second = (_by_name(run.measures) for run in (old, new))
    told = []
    for name in dict.fromkeys([*first, *second]):
        if name not in first or name not in second:
            told.append(f"{name}: only in {old.folder if name in first else new.folder}")
            continue
        for number in NUMBERS:
            before, after = first[name].get(number), second[name].get(number)
            if before != after:
                told.append(f"{name}: {number} was {before}, is {after}")
    return Differences(len(first), tuple(told), tuple(_causes(old, new)))


def _by_name(measures: pl.DataFrame) -> dict[str, dict[str, float | None]]:
    """Numbers of each measure under the name of what it is of."""
    found: dict[str, dict[str, float | None]] = {}
    for row in measures.filter(pl.col("measure") != CLOCK).iter_rows(named=True):
        name = " ".join(str(row[column]) for column in NAMES if row[column] is not None)
        while name in found:
            name += " again"
        found[name] = {number: row.get(number) for number in NUMBERS}
    return found


def _causes(old: Run, new: Run) -> list[str]:
    told = []
    for what, before, after in (
        ("version of", old.info.versions, new.info.versions),
        ("signature of", old.info.signatures, new.info.signatures),
    ):
        for name in sorted({*before, *after}):
            if before.get(name) != after.get(name):
                told.append(f"{what} {name}: {before.get(name, 'none')} then, {after.get(name, 'none')} now")
    if old.info.config.get("data") != new.info.config.get("data"):
        told.append(f"data: {old.info.config.get('data')} then, {new.info.config.get('data')} now")
    return told
