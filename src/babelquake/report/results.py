"""The measures of a run, ready to be asked: which numbers there are, and each by its name."""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

from babelquake.errors import UserError
from babelquake.runs.measures import NAMES
from babelquake.runs.run import Run
from babelquake.spec import parse

Row = dict[str, Any]
SIGNIFICANT = 0.05
DISPLAY = {
    "bleu": "BLEU",
    "chrf": "chrF",
    "ter": "TER",
    "comet": "COMET",
    "bleurt": "BLEURT",
    "bertscore": "BERTScore",
    "transquest": "TransQuest",
    "sentsim": "SentSim",
    "openkiwi": "OpenKiwi",
}
"""Scorers as the field writes them."""
SCORES = ("quality", "quality_perturbed", "score", "score_perturbed", "score_mt", "score_mpp", "score_map")
"""Scores as the scorer gives them."""
STATISTICS = ("darr", "kendall_like", "accuracy", "pearson", "spearman", "kendall")
"""Agreement with humans, the one to speak of first."""


class Results:
    """Rows of measures with an index."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)

    @classmethod
    def of(cls, run: Run) -> "Results":
        """The measures of a run, its systems under short names."""
        rows = run.measures.to_dicts()
        short = short_names(row["system"] for row in rows if row["system"] is not None)
        for row in rows:
            if row["system"] is not None:
                row["system"], row["other"] = (short.get(row[name], row[name]) for name in ("system", "other"))
        return cls(rows)

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
    return list(dict.fromkeys(tuple(row[column] for column in columns) for row in rows))


def values(rows: Iterable[Row], column: str) -> list[Any]:
    """The values that occur in a column, in order of appearance."""
    return [value for (value,) in distinct(rows, column)]


def is_significant(row: Row | None) -> bool:
    """Whether the corrected p-value (the plain one where none was corrected) is below 5 %."""
    if row is None:
        return False
    p = row["p_corrected"] if row["p_corrected"] is not None else row["p"]
    return p is not None and p < SIGNIFICANT


def level_text(level: float | None) -> str:
    """A level as tables show it."""
    return "" if level is None else f"{level:g}"


def short_names(systems: Iterable[str]) -> dict[str, str]:
    """`bundled[model=de-en-bpe]` is de-en-bpe where no other system would be called so."""
    short = {}
    for name in dict.fromkeys(systems):
        try:
            options = dict(parse(name).options)
        except UserError:
            options = {}
        model = options.get("model") or (name.rpartition(":")[2] if not options else name)
        short[name] = options.get("name") or (model if "[" in model else model.rstrip("/").rpartition("/")[2]) or name
    taken = list(short.values())
    return {name: shown if taken.count(shown) == 1 else name for name, shown in short.items()}


def base_name(name: str) -> str:
    """A name without its options."""
    return name.partition("[")[0]


def scorer_text(scorer: str, among: Iterable[str] = ()) -> str:
    """A scorer as the field writes it, with its options only where they tell it from another one."""
    name, bracket, options = scorer.partition("[")
    shown = DISPLAY.get(name, name)
    alone = sum(base_name(other) == name for other in among) <= 1
    return shown if alone else shown + bracket + options


def named(rows: Iterable[Row], column: str = "scorer") -> Callable[[Row], str]:
    """What the scorer of a row is called among those of all rows."""
    among = values(rows, column)
    return lambda row: scorer_text(row[column], among)


def tested_text(row: Row) -> str:
    """What charts say of a test."""
    return "significant" if is_significant(row) else "not significant"


def statistic_text(measure: str) -> str:
    """An agreement statistic as papers name it."""
    return {
        "darr": "DARR Kendall",
        "kendall_like": "Kendall-like τ",
        "accuracy": "pairwise accuracy",
        "pearson": "Pearson's r",
        "spearman": "Spearman's ρ",
        "kendall": "Kendall's τ",
    }.get(measure, measure)
