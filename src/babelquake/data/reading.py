"""Reading any input, or several as one data set."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from babelquake.data.columns import ALIASES
from babelquake.data.dataset import SCHEMA, Dataset
from babelquake.data.formats import format_named, format_of
from babelquake.data.joining import join
from babelquake.data.metrics_eval import is_metrics_eval
from babelquake.data.request import Request
from babelquake.errors import UserError, did_you_mean


def read(
    what: str | Path | Sequence[str | Path],
    *,
    columns: Mapping[str, str] | None = None,
    language_pair: str | None = None,
    format: str | None = None,
    reference: str | None = None,
) -> Dataset:
    """Read a file, a folder, standard input (`-`), a named data set, or several of them joined into one.

    Columns are found by their usual names or given by `columns` (field → column, several references with `+`; numbers
    for a file without header). `language_pair` is otherwise taken from a column, the file's name or its folder's.
    `reference` chooses among the named references of an mt-metrics-eval folder: a name, or `all`.
    """
    inputs = [what] if isinstance(what, str | Path) else list(what)
    for item in inputs:
        if not isinstance(item, str | Path):
            raise UserError(f"read takes names and paths, not {type(item).__name__}: dataset takes tables and lists.")
    if not inputs:
        raise UserError("There is no data: name at least one file, folder or data set.")
    requests = [Request(str(item), columns, language_pair, reference) for item in inputs]
    if reference is not None and not any(is_metrics_eval(request.what) for request in requests):
        raise UserError(
            f"--reference {reference} chooses among the named references of an mt-metrics-eval folder; "
            f"{inputs[0]} is none. References in a table are named by --columns reference=NAME."
        )
    parts = [(format_named(format) if format else format_of(request.what)).read(request) for request in requests]
    return parts[0] if len(parts) == 1 else join(parts)


def require(dataset: Dataset, *fields: str) -> None:
    """Refuse a data set that lacks a field somebody needs, saying what it has."""
    for field in fields:
        column = "references" if field == "reference" else field
        if dataset.has(column):
            continue
        has = [name for name in dataset.segments.columns if dataset.has(name)]
        unused = [name for name in has if name not in SCHEMA]
        near = did_you_mean(field, unused)
        hint = f"{near} " if near.startswith("Did") else ""
        raise UserError(
            f"{dataset.name} has no {field} (it has: {', '.join(has)}). {hint}"
            f"Name the column {' or '.join(ALIASES[field][:2])}, or say --columns {field}=NAME."
        )
