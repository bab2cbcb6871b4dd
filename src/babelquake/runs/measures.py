"""Results: a `Measure` is one number that knows its meaning – rule 6 of the house.

A `Kind` says what sort of number it is: its name, its unit, which way is better, the paper it comes from. A measure
adds what it is of (system, scorer, perturbation …), its error, its test and the family of tests it was corrected in. In
a run folder measures are a tidy table, one number a row; empty where a column does not apply.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Literal

import polars as pl

Better = Literal["up", "down", "neither"]
ALPHA = 0.05
SIGNIFICANT: Final = "significant"
NOT_SIGNIFICANT: Final = "not significant"
CANNOT_BE_TESTED: Final = "cannot be tested"
DIFFERENCE: Final = "_difference"
CHANGED: Final = "_changed"
"""How the names of kinds end that are made from others: between two systems, and over changed texts alone."""


@dataclass(frozen=True)
class Kind:
    """What sort of number a measure is."""

    name: str
    label: str = ""
    """What people call it: on pages, in tables and plots. The name stays in the data."""
    unit: str = ""
    better: Better = "neither"
    paper: str = ""
    head: str = ""
    """What heads a narrow column; the label where there is nothing shorter."""

    @property
    def column(self) -> str:
        """What heads a column of such numbers."""
        return self.head or self.label or self.name.replace("_", " ")

    def difference(self) -> "Kind":
        """The kind of the difference between two of these: `robust` → `robust_difference`."""
        unit = f"{self.unit}, difference".lstrip(", ")
        return replace(self, name=f"{self.name}{DIFFERENCE}", unit=unit, label=f"{self.label}, difference", head="")


@dataclass
class Measure:
    """One number. What does not apply is None."""

    kind: Kind
    value: float | None
    n: int | None = None
    """Segments (or judgements) behind it."""
    changed: int | None = None
    """How many of their texts the perturbation really changed."""
    language_pair: str | None = None
    system: str | None = None
    scorer: str | None = None
    perturbation: str | None = None
    level: float | None = None
    other: str | None = None
    """The system or scorer that this one is compared with."""
    tokenizer: str | None = None
    group: str | None = None
    """A part of the data, such as a severity or a year; None for all of them."""
    sd: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_corrected: float | None = None
    testable: bool = True
    """False where no test on these segments could come out significant."""
    family: tuple[str | None, ...] | None = None
    """The tests that were corrected together: language pair, scorer, kind of question."""
    note: str | None = None
    """Why it is undefined or not to be trusted, in words."""
    study: str | None = None
    signature: str | None = None

    @property
    def verdict(self) -> str | None:
        """What the test says; None where nothing was tested."""
        if not self.testable:
            return CANNOT_BE_TESTED
        p = self.p_corrected if self.p_corrected is not None else self.p
        return None if p is None else SIGNIFICANT if p < ALPHA else NOT_SIGNIFICANT

    def row(self) -> dict[str, Any]:
        """The measure as a row of the table."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        family = " × ".join(part or "–" for part in self.family) if self.family else None
        return {
            **{name: named[name] for name in COLUMNS if name in named},
            "measure": self.kind.name,
            "unit": self.kind.unit or None,
            "better": None if self.kind.better == "neither" else self.kind.better,
            "verdict": self.verdict,
            "family": family,
        }


COLUMNS = {
    "study": pl.String,
    "language_pair": pl.String,
    "system": pl.String,
    "scorer": pl.String,
    "perturbation": pl.String,
    "level": pl.Float64,
    "measure": pl.String,
    "value": pl.Float64,
    "sd": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "p": pl.Float64,
    "p_corrected": pl.Float64,
    "n": pl.Int64,
    "signature": pl.String,
    "other": pl.String,
    "tokenizer": pl.String,
    "group": pl.String,
    "changed": pl.Int64,
    "unit": pl.String,
    "better": pl.String,
    "verdict": pl.String,
    "family": pl.String,
    "note": pl.String,
}
"""The columns of measures.csv; the first fifteen are what other tools rely on."""
NAMES = ("language_pair", "system", "other", "scorer", "tokenizer", "perturbation", "level", "group", "measure")
"""Those that say what a number is of: verdict and notes may change with it."""


def measures_frame(measures: Iterable[Measure]) -> pl.DataFrame:
    """Measures as a table with all columns; numbers that are not finite become null."""
    frame = pl.DataFrame([measure.row() for measure in measures], schema=dict(COLUMNS), orient="row")
    numbers = pl.col(pl.Float64)
    return frame.with_columns(pl.when(numbers.is_finite()).then(numbers).name.keep())
