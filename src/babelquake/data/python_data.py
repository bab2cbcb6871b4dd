"""Data as a Python user has them: a data set, a name or path as on the command line, a table, or a list of pairs."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from babelquake.data.dataset import Dataset
from babelquake.data.reading import read
from babelquake.data.request import Targets
from babelquake.data.table import Table, columns_of, given_table, to_dataset
from babelquake.errors import UserError, setting

Given = Dataset | str | Path | pl.DataFrame | Mapping[str, Sequence[Any]] | Sequence[Any] | Any
"""What the studies take as `data`: also tables and series of pandas, pyarrow and Hugging Face `datasets`."""


def dataset(
    given: Given,
    *,
    columns: Mapping[str, str] | None = None,
    language_pair: str | None = None,
    reference: str | None = None,
    targets: Targets = "reference",
    inline_tags: bool = False,
) -> Dataset:
    """The data set that was meant.

    A table (polars, pandas, pyarrow, Hugging Face `datasets`) or a mapping of columns needs columns that say what they
    are (source, reference, translation, system, score …). A series or a list of sentences are sources; a list may also
    hold paths, rows as mappings, or (source, reference) pairs.
    """
    if isinstance(given, Dataset):
        return given
    if isinstance(given, str | Path):
        return read(
            given,
            columns=columns,
            language_pair=language_pair,
            reference=reference,
            targets=targets,
            inline_tags=inline_tags,
        )
    if (table := given_table(given)) is not None:
        return _of_table(*_without_language_columns(table, language_pair), columns)
    items = _listed(given)
    if items and all(isinstance(item, str | Path) for item in items):
        if all(_is_sentence(str(item)) for item in items):
            return _of_table(pl.DataFrame({"source": items}), language_pair, columns)
        return read(
            items,
            columns=columns,
            language_pair=language_pair,
            reference=reference,
            targets=targets,
            inline_tags=inline_tags,
        )
    if items and all(isinstance(item, Mapping) for item in items):
        return _of_table(*_without_language_columns(pl.DataFrame(items), language_pair), columns)
    if items and all(isinstance(item, tuple | list) and len(item) == 2 for item in items):
        pairs = pl.DataFrame(items, schema=["source", "reference"], orient="row")
        return _of_table(pairs, language_pair, columns)
    if hasattr(given, "__len__") and not items:
        raise UserError("data is empty: there are no segments in it.")
    raise UserError(
        "data must be a path or name, a table of polars, pandas, pyarrow or datasets, columns such as "
        "{'source': texts}, or a list of sentences, of paths, of (source, reference) pairs or of mappings."
    )


def _listed(given: Any) -> list[Any]:
    """A list, or what becomes one: series of polars and pandas, arrays of NumPy and pyarrow."""
    for convert in ("to_list", "to_pylist", "tolist"):
        if hasattr(given, convert):
            return list(getattr(given, convert)())
    return list(given) if isinstance(given, Iterable) else []


def _without_language_columns(table: pl.DataFrame, language_pair: str | None) -> tuple[pl.DataFrame, str | None]:
    """A column of {language: text}, as translation sets on the hub have, as sources and references."""
    for name, kind in table.schema.items():
        if isinstance(kind, pl.Struct) and len(kind.fields) == 2 and "source" not in table.columns:
            codes = [field.name for field in kind.fields]
            if language_pair is not None and language_pair == f"{codes[1]}-{codes[0]}":
                codes.reverse()
            elif language_pair is not None and language_pair != f"{codes[0]}-{codes[1]}":
                given = setting("language_pair", language_pair)
                raise UserError(f"the column {name} has {codes[0]} and {codes[1]}: {given} is not in it.")
            texts = table[name].struct
            plain = table.drop(name).with_columns(source=texts.field(codes[0]), reference=texts.field(codes[1]))
            return plain, language_pair or f"{codes[0]}-{codes[1]}"
    return table, language_pair


def _is_sentence(name: str) -> bool:
    """Whether something that was taken for a file's name rather is a sentence."""
    try:
        return len(name.split()) > 2 and "[" not in name and not Path(name).exists()
    except OSError:
        return True  # longer than a file's name can be


def _of_table(table: pl.DataFrame, language_pair: str | None, columns: Mapping[str, str] | None) -> Dataset:
    if table.is_empty():
        raise UserError("the table is empty: there is nothing to study.")
    return to_dataset(
        Table("the table", "table", columns_of(table), range(1, table.height + 1), unit="row"), columns, language_pair
    )
