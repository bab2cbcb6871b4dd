"""Data as a Python user has them: a data set, a name or path as on the command line, a table, or a list of pairs."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from babelquake.data.dataset import Dataset
from babelquake.data.reading import read
from babelquake.data.table import Table, columns_of, to_dataset
from babelquake.errors import UserError

Given = Dataset | str | Path | pl.DataFrame | Sequence[Any]
"""What the studies take as `data`."""


def dataset(given: Given, *, language_pair: str | None = None) -> Dataset:
    """The data set that was meant.

    A table of polars or pandas needs columns that say what they are (source, reference, translation, system, score …);
    a list may hold paths, mappings of such columns, or (source, reference) pairs.
    """
    if isinstance(given, Dataset):
        return given
    if isinstance(given, str | Path):
        return read(given, language_pair=language_pair)
    if isinstance(given, pl.DataFrame):
        return _of_table(given, language_pair)
    if hasattr(given, "columns") and hasattr(given, "notna"):
        return _of_table(_of_pandas(given), language_pair)
    items = list(given) if isinstance(given, Iterable) else []
    if items and all(isinstance(item, str | Path) for item in items):
        return read(items, language_pair=language_pair)
    if items and all(isinstance(item, Mapping) for item in items):
        return _of_table(pl.DataFrame(items), language_pair)
    if items and all(isinstance(item, tuple | list) and len(item) == 2 for item in items):
        return _of_table(pl.DataFrame(items, schema=["source", "reference"], orient="row"), language_pair)
    raise UserError(
        "data are a path or name, a polars or pandas DataFrame, or a list of paths, of (source, reference) pairs or of "
        "mappings."
    )


def _of_pandas(table: Any) -> pl.DataFrame:
    """A table of pandas, which need not be installed here; what it calls missing is None."""
    cells = table.astype(object).where(table.notna(), None)
    return pl.DataFrame({str(name): cells[name].tolist() for name in cells.columns}, strict=False)


def _of_table(table: pl.DataFrame, language_pair: str | None) -> Dataset:
    if table.is_empty():
        raise UserError("the table is empty: there is nothing to study.")
    return to_dataset(
        Table("the table", "table", columns_of(table), range(1, table.height + 1), unit="row"), None, language_pair
    )
