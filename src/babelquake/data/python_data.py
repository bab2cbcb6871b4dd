"""Data as a Python user has them: a data set, a name or path as on the command line, a table, or a list of pairs."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from babelquake.data.dataset import Dataset
from babelquake.data.reading import read
from babelquake.data.request import Targets
from babelquake.data.table import Table, columns_of, to_dataset
from babelquake.errors import UserError

Given = Dataset | str | Path | pl.DataFrame | Mapping[str, Sequence[Any]] | Sequence[Any]
"""What the studies take as `data`."""


def dataset(
    given: Given,
    *,
    columns: Mapping[str, str] | None = None,
    language_pair: str | None = None,
    reference: str | None = None,
    targets: Targets = "reference",
) -> Dataset:
    """The data set that was meant.

    A table of polars or pandas needs columns that say what they are (source, reference, translation, system, score …);
    a mapping holds such columns as lists; a list may hold paths, rows as mappings, or (source, reference) pairs.
    """
    if isinstance(given, Dataset):
        return given
    if isinstance(given, str | Path):
        return read(given, columns=columns, language_pair=language_pair, reference=reference, targets=targets)
    if isinstance(given, pl.DataFrame):
        return _of_table(given, columns, language_pair)
    if hasattr(given, "columns") and hasattr(given, "notna"):
        return _of_table(_of_pandas(given), columns, language_pair)
    if isinstance(given, Mapping):
        return _of_table(_of_columns(given), columns, language_pair)
    items = list(given) if isinstance(given, Iterable) else []
    if items and all(isinstance(item, str | Path) for item in items):
        if all(_is_sentence(str(item)) for item in items):
            raise UserError(
                "a list of names is a list of files: sentences are {'source': texts}, or (source, reference) pairs."
            )
        return read(items, columns=columns, language_pair=language_pair, reference=reference, targets=targets)
    if items and all(isinstance(item, Mapping) for item in items):
        return _of_table(pl.DataFrame(items), columns, language_pair)
    if items and all(isinstance(item, tuple | list) and len(item) == 2 for item in items):
        return _of_table(pl.DataFrame(items, schema=["source", "reference"], orient="row"), columns, language_pair)
    raise UserError(
        "data are a path or name, a polars or pandas DataFrame, columns such as {'source': texts}, or a list of paths, "
        "of (source, reference) pairs or of mappings."
    )


def _is_sentence(name: str) -> bool:
    """Whether something that was taken for a file's name rather is a sentence."""
    try:
        return len(name.split()) > 2 and "[" not in name and not Path(name).exists()
    except OSError:
        return True  # longer than a file's name can be


def _of_columns(given: Mapping[str, Any]) -> pl.DataFrame:
    """Columns by name, as long as each other."""
    try:
        return pl.DataFrame(dict(given), strict=False)
    except (TypeError, pl.exceptions.PolarsError) as error:
        raise UserError(f"columns of data are lists of equal length, by name: {error}") from None


def _of_pandas(table: Any) -> pl.DataFrame:
    """A table of pandas, which need not be installed here; what it calls missing is None."""
    cells = table.astype(object).where(table.notna(), None)
    return pl.DataFrame({str(name): cells[name].tolist() for name in cells.columns}, strict=False)


def _of_table(table: pl.DataFrame, columns: Mapping[str, str] | None, language_pair: str | None) -> Dataset:
    if table.is_empty():
        raise UserError("the table is empty: there is nothing to study.")
    return to_dataset(
        Table("the table", "table", columns_of(table), range(1, table.height + 1), unit="row"), columns, language_pair
    )
