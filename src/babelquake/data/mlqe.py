"""MLQE-PE (Fomicheva et al. 2022): direct assessments for quality estimation, as TSV without quoting.

`mean` (0–100, over the annotators) becomes the score; `z_mean` and `model_scores` (the NMT model's log-probability)
are kept, and `scores` and `z_scores` as lists of numbers.
"""

from babelquake.data import language_names
from babelquake.data.dataset import Dataset
from babelquake.data.delimited import tsv_table
from babelquake.data.request import Request
from babelquake.data.streams import lines, suffix
from babelquake.data.table import Table, numbers, to_dataset
from babelquake.errors import UserError
from babelquake.limits import json_of

COLUMNS = frozenset({"original", "translation", "mean", "z_scores"})
LISTS = ("scores", "z_scores")
NUMBERS = ("z_mean", "model_scores")


def is_mlqe(what: str) -> bool:
    """Whether a TSV file's header is MLQE-PE's."""
    if suffix(what) != ".tsv":
        return False
    first = next(lines(what), "")
    return set(first.split("\t")) >= COLUMNS


def read_mlqe(request: Request) -> Dataset:
    """One of the task's files."""
    table = tsv_table(request)
    for name in LISTS:
        if name in table.columns:
            table.columns[name] = [_list(table, row, name) for row in range(len(table.lines))]
    for name in NUMBERS:
        if name in table.columns:
            table.columns[name] = numbers(table, name)
    return to_dataset(table, request.columns, request.language_pair, language_names.detect(request.path))


def _list(table: Table, row: int, name: str) -> list[float]:
    text = table.columns[name][row]
    try:
        return [float(value) for value in json_of(text, name)]
    except (UserError, TypeError, ValueError):
        raise UserError(
            f"{table.where(row)}: {name} is '{text}' where a list is expected, such as [70, 85.5]."
        ) from None
