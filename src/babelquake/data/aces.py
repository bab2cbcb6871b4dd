"""ACES: translations beside incorrect ones, by phenomenon (Amrhein et al. 2022), and its weighted score.

A TSV file with `source`, `good-translation`, `incorrect-translation`, `reference`, `phenomena` and perhaps `langpair`;
a file that ACES's own tool scored has `METRIC-good` and `METRIC-bad` for every metric too.
"""

from dataclasses import replace

import polars as pl

from babelquake.data.dataset import Dataset
from babelquake.data.delimited import tsv_table
from babelquake.data.request import Request
from babelquake.data.streams import lines, only_file, stem, suffix
from babelquake.data.table import Values, to_dataset
from babelquake.paths import table_of_room

NAMES = {
    "good-translation": "translation",
    "incorrect-translation": "translation_perturbed",
    "phenomena": "phenomenon",
    "langpair": "language_pair",
}
WEIGHTS: dict[str, float] = table_of_room("data", "aces")["weights"]
"""What the ten categories weigh in the ACES score."""
GOOD, BAD = "-good", "-bad"
"""How the columns of a metric's scores end."""
NEEDED = frozenset({"source", "good-translation", "incorrect-translation", "phenomena"})


def is_aces(what: str) -> bool:
    """Whether a TSV file, or the only one in a folder, has ACES's columns."""
    file = only_file(what, ".tsv")
    return suffix(file) == ".tsv" and file.is_file() and set(next(lines(file), "").split("\t")) >= NEEDED


def read_aces(request: Request) -> Dataset:
    """Every good translation with its incorrect one; `phenomenon` is what is wrong."""
    file = only_file(request.what, ".tsv")
    table = tsv_table(replace(request, what=str(file)), header=True)
    columns: dict[str, Values] = {NAMES.get(name, name): values for name, values in table.columns.items()}
    columns["id"] = [f"{stem(file)}:{number}" for number in range(1, len(table.lines) + 1)]
    return to_dataset(replace(table, columns=columns), None, request.language_pair)


def scored_metrics(segments: pl.DataFrame) -> dict[str, tuple[pl.Series, pl.Series]]:
    """Metric → its scores of the good and of the incorrect translations, of a file that ACES's own tool scored."""
    names = [name.removesuffix(GOOD) for name in segments.columns if name.endswith(GOOD) and name != GOOD]
    paired = [name for name in names if f"{name}{BAD}" in segments.columns]
    sides = {name: (segments[f"{name}{GOOD}"], segments[f"{name}{BAD}"]) for name in paired}
    return {name: both for name, both in sides.items() if all(side.dtype.is_numeric() for side in both)}


def category_of(phenomenon: str) -> str | None:
    """The category of one of ACES's phenomena; None for a name that it does not have."""
    known = table_of_room("data", "aces")
    begins = (category for beginning, category in known["beginnings"].items() if phenomenon.startswith(beginning))
    return known["names"].get(phenomenon) or next(begins, None)
