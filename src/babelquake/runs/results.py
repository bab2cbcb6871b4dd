"""The measures of a run, ready to be asked: which numbers there are, and each by its name."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from babelquake.runs.measures import ALPHA, NAMES
from babelquake.runs.run import Run

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
    def of(cls, run: Run) -> "Results":
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
