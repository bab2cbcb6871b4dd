"""Results: a `Measure` is one number that knows its meaning – rule 6 of the house.

A `Kind` says what sort of number it is: its name, its unit, which way is better, the paper it comes from. A measure
adds what it is of (system, scorer, perturbation …), its error, its test and the family of tests it was corrected in. In
a run folder measures are a tidy table, one number a row; empty where a column does not apply. `Results` are the rows of
a run's table, ready to be asked: which numbers there are, and each by its name.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

import polars as pl

if TYPE_CHECKING:
    from babelquake.runs.run import Run


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


Row = dict[str, Any]
SCORES = ("quality", "quality_perturbed", "score", "score_perturbed", "score_mt", "score_mpp", "score_map")
"""Scores as the scorer gives them."""
STATISTICS = (
    "darr",
    "auc",
    "kendall_like",
    "accuracy",
    "soft_accuracy",
    "pearson",
    "spearman",
    "kendall",
    "span_f1",
    "span_precision",
    "span_recall",
)
"""Agreement with humans, the one to speak of first."""


class Results:
    """Rows of measures with an index."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)

    @classmethod
    def of(cls, run: "Run") -> "Results":
        """The measures of a run."""
        return cls(run.measures.to_dicts())

    @property
    def whole(self) -> "Results":
        """Those of all segments, without those of parts of the data."""
        return Results(row for row in self.rows if row["group"] is None)

    @cached_property
    def _index(self) -> dict[tuple[Any, ...], Row]:
        return {tuple(row[name] for name in NAMES): row for row in self.rows}

    def one(self, measure: str, **key: Any) -> Row | None:
        """The row of exactly this name, parts that are not given being empty; None where there is none."""
        return self._index.get(tuple(measure if name == "measure" else key.get(name) for name in NAMES))

    def beside(self, row: Row, measure: str) -> Row | None:
        """Another measure of the same place; None where there is none."""
        return self.one(measure, **{name: row[name] for name in NAMES if name != "measure"})

    def digits(self, scorer: str | None, large: int = 2) -> int:
        """Places of a scorer's numbers: `large` where they run to 100, four where they live between 0 and 1."""
        return large if any(abs(row["value"]) > 5 for row in self.known(*SCORES, scorer=scorer)) else 4

    def both(self, measure: str, beside: str, **key: Any) -> list[tuple[Row, float]]:
        """Rows of a measure that have a value, each with that of another measure of the same place."""
        pairs = ((row, self.beside(row, beside)) for row in self.known(measure, **key))
        return [(row, other["value"]) for row, other in pairs if other and other["value"] is not None]

    def between(self, measure: str, who: str, one: str, other: str, **key: Any) -> Row | None:
        """The difference of a measure between two systems or scorers, whichever is named first; None where none is."""
        found = self.where(f"{measure}_difference", **key)
        return next((row for row in found if {row[who], row["other"]} == {one, other}), None)

    def where(self, *measures: str, **key: Any) -> list[Row]:
        """All rows of these measures whose columns have the given values."""
        return [
            row
            for row in self.rows
            if row["measure"] in measures and all(row[name] == value for name, value in key.items())
        ]

    def known(self, *measures: str, **key: Any) -> list[Row]:
        """Those of them that have a value."""
        return [row for row in self.where(*measures, **key) if row["value"] is not None]


def largest_first(rows: Iterable[Row]) -> list[Row]:
    """Rows that have a value, by it; equal ones stay in order."""
    return sorted(rows, key=lambda row: -float(row["value"]))


def distinct(rows: Iterable[Row], *columns: str) -> list[tuple[Any, ...]]:
    """The combinations of values that occur in these columns, in order of appearance."""
    return [key for key, _ in apart(rows, *columns)]


def values(rows: Iterable[Row], column: str) -> list[Any]:
    """The values that occur in a column, in order of appearance."""
    return [value for (value,) in distinct(rows, column)]


def apart(rows: Iterable[Row], *columns: str) -> Iterable[tuple[tuple[Any, ...], list[Row]]]:
    """The rows of each combination of values that occurs in these columns, in order of appearance."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[column] for column in columns), []).append(row)
    return found.items()


def is_significant(row: Row | None) -> bool:
    """Whether the corrected p-value (the plain one where none was corrected) is below 5 %."""
    if row is None:
        return False
    p = row["p_corrected"] if row["p_corrected"] is not None else row["p"]
    return p is not None and p < ALPHA
