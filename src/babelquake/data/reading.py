"""Reading any input, or several as one data set."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from babelquake.data.columns import ALIASES
from babelquake.data.dataset import SCHEMA, Dataset
from babelquake.data.formats import format_named, format_of
from babelquake.data.joining import join, looked_up
from babelquake.data.metrics_eval import is_metrics_eval
from babelquake.data.request import Request, Targets
from babelquake.data.streams import stem
from babelquake.data.wmt_outputs import is_wmt_outputs
from babelquake.errors import UserError, did_you_mean, one_of, setting
from babelquake.languages import LanguagePair


def read(
    what: str | Path | Sequence[str | Path],
    *,
    columns: Mapping[str, str] | None = None,
    language_pair: str | None = None,
    format: str | None = None,
    reference: str | None = None,
    targets: Targets = "reference",
    inline_tags: bool = False,
) -> Dataset:
    """Read a file, a folder, standard input (`-`), a named data set, or several of them joined into one.

    Columns are found by their usual names or given by `columns` (field → column, several references with `+`; numbers
    for a file without header; `translation:NAME` → the column of NAME's translations). `language_pair` is otherwise
    taken from a column, the file's name or its folder's. `reference` chooses among the named references of a WMT
    folder – a name, or `all` – or names other data, whose references are looked up by their sources. `targets` says
    what the targets of XLIFF and TMX are: references, or translations by the vendor that the file is named after, or
    its folder where files of one name come from several; `inline_tags` keeps the tags inside their segments.
    """
    one_of("targets", targets, Targets)
    inputs = [what] if isinstance(what, str | Path) else list(what)
    for item in inputs:
        if not isinstance(item, str | Path):
            raise UserError(f"read takes names and paths, not {type(item).__name__}: dataset takes tables and lists.")
    if not inputs:
        raise UserError("No data given. Name at least one file, folder or data set.")
    elsewhere = reference is not None and _is_data(reference)
    chosen = None if elsewhere else reference
    vendors = _vendors([str(item) for item in inputs]) if targets == "translation" else [None] * len(inputs)
    requests = [
        Request(str(item), columns, language_pair, chosen, targets, vendor, inline_tags)
        for item, vendor in zip(inputs, vendors, strict=True)
    ]
    if chosen is not None and not any(is_metrics_eval(item.what) or is_wmt_outputs(item.what) for item in requests):
        raise UserError(
            f"{setting('reference', reference)} is not a file, and {inputs[0]} is not a WMT folder with named "
            f"references. For references in a table use {setting('columns', {'reference': 'NAME'})}."
        )
    parts = [(format_named(format) if format else format_of(request.what)).read(request) for request in requests]
    for item, part in zip(inputs, parts, strict=True):
        _refuse_other_languages(item, part, language_pair)
    found = parts[0] if len(parts) == 1 else join(parts)
    return looked_up(found, read(reference, language_pair=language_pair)) if elsewhere and reference else found


def _vendors(inputs: Sequence[str]) -> list[str | None]:
    """Whose translations files hold where their names do not say it: `acme/app.xlf` and `globex/app.xlf`."""
    names = [stem(Path(item)) for item in inputs]
    folders = [Path(item).resolve().parent.name for item in inputs]
    told = len(set(names)) < len(names) and len(set(folders)) > 1
    return [folder if told else None for folder in folders]


def _refuse_other_languages(item: str | Path, part: Dataset, language_pair: str | None) -> None:
    """Data that know their languages are not taken for others."""
    known = {pair: LanguagePair.known(pair) for pair in part.language_pairs}
    if (
        language_pair
        and known
        and LanguagePair(language_pair).codes not in {pair.codes for pair in known.values() if pair}
    ):
        given = setting("language_pair", language_pair)
        raise UserError(f"{item} is {', '.join(known)}: leave out {given}, or choose other data.")


def _is_data(reference: str) -> bool:
    """Whether references are named by where they are rather than by what a folder calls them."""
    return Path(reference).exists() or Path(reference.rpartition(":")[0] or "?").exists() or "[" in reference


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
            f"Name the column {' or '.join(ALIASES[field][:2])}, or use {setting('columns', {field: 'NAME'})}."
        )
