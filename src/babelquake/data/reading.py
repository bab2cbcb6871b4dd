"""Reading any input, or several as one data set: a format is known by what recognises it, the first that does reads.

A Python user has data of other kinds besides: a data set, a table, a list of sentences or of pairs.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from babelquake.data import (
    challenge_sets,
    darr,
    json_and_parquet,
    markup,
    metrics_eval,
    plain_text,
    published_sets,
    ratings,
    tsv_csv_xlsx,
    wmt_jsonl,
    wmt_outputs,
)
from babelquake.data.columns import ALIASES
from babelquake.data.dataset import SCHEMA, Dataset, Request, Targets, join, looked_up
from babelquake.data.streams import STDIN, existing, stem, suffix
from babelquake.data.table import Table, columns_of, given_table, to_dataset
from babelquake.errors import UserError, as_list, did_you_mean, one_of, setting
from babelquake.languages import LanguagePair
from babelquake.paths import table_of_room

IN_MEMORY = "table"
"""What data that are not in a file are called."""


@dataclass(frozen=True)
class Format:
    """A format's card: what it is and how an input shows that it has it."""

    name: str
    description: str
    recognised_by: str
    recognises: Callable[[str], bool]
    read: Callable[[Request], Dataset]


def _ends(*endings: str) -> Callable[[str], bool]:
    return lambda what: suffix(what) in endings and not Path(what).is_dir()


READERS: dict[str, tuple[Callable[[str], bool], Callable[[Request], Dataset]]] = {
    "sample": (lambda what: what in published_sets.SAMPLES or what.startswith("sample:"), published_sets.read_sample),
    "sacrebleu": (lambda what: what.startswith(published_sets.SACREBLEU), published_sets.read_sacrebleu),
    "parallel": (lambda what: what.startswith(plain_text.PARALLEL + "["), plain_text.read_parallel),
    "wmt-outputs": (wmt_outputs.is_wmt_outputs, wmt_outputs.read_wmt_outputs),
    "rocs-mt": (wmt_outputs.is_rocs_mt, wmt_outputs.read_rocs_mt),
    "mt-metrics-eval": (metrics_eval.is_metrics_eval, metrics_eval.read_metrics_eval),
    "darr": (darr.is_darr, darr.read_darr),
    "metrics-task": (darr.is_metrics_task, darr.read_metrics_task),
    "mt-run": (json_and_parquet.is_mt_run, json_and_parquet.read_mt_run),
    "mtnt": (published_sets.is_mtnt, published_sets.read_mtnt),
    "mlqe-pe": (published_sets.is_mlqe, published_sets.read_mlqe),
    "demetr": (published_sets.is_demetr, published_sets.read_demetr),
    "aces": (published_sets.is_aces, published_sets.read_aces),
    "challenge-set": (challenge_sets.is_challenge_set, challenge_sets.read_challenge_set),
    "wmt-jsonl": (wmt_jsonl.is_wmt_jsonl, wmt_jsonl.read_wmt_jsonl),
    "tmx": (_ends(".tmx"), markup.read_tmx),
    "xliff": (_ends(".xlf", ".xliff", ".sdlxliff", ".mxliff"), markup.read_xliff),
    "wmt-xml": (lambda what: _ends(".xml")(what) and markup.is_wmt_xml(what), markup.read_wmt_xml),
    "sgm": (_ends(".sgm", ".sgml"), markup.read_sgm),
    "xlsx": (_ends(".xlsx", ".xlsm"), tsv_csv_xlsx.read_xlsx),
    "tsv": (_ends(".tsv", ".tab"), tsv_csv_xlsx.read_tsv),
    "appraise": (ratings.is_rated, ratings.read_rated),
    "csv": (_ends(".csv"), tsv_csv_xlsx.read_csv),
    "jsonl": (_ends(".jsonl", ".ndjson"), json_and_parquet.read_jsonl),
    "json": (_ends(".json"), json_and_parquet.read_json),
    "parquet": (_ends(".parquet"), json_and_parquet.read_parquet),
    "text": (lambda what: what == STDIN or not existing(what).is_dir(), plain_text.read_text),
}
"""In the order in which they are tried; `formats.yaml` describes them."""
FORMATS = {
    name: Format(name, **table_of_room("data", "formats")[name], recognises=recognises, read=read)
    for name, (recognises, read) in READERS.items()
}


def format_of(what: str) -> Format:
    """The format of an input."""
    for card in FORMATS.values():
        if card.recognises(what):
            return card
    layouts = "; ".join(
        f"{card.name}: {card.recognised_by}" for card in FORMATS.values() if "folder" in card.recognised_by
    )
    raise UserError(f"{what} is a folder with an unknown layout. Known layouts: {layouts}.")


def format_named(name: str) -> Format:
    """A format by its name."""
    if name not in FORMATS:
        raise UserError(f"no format is called '{name}'. {did_you_mean(name, FORMATS)}")
    return FORMATS[name]


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
    if chosen is not None and not any(
        metrics_eval.is_metrics_eval(item.what) or wmt_outputs.is_wmt_outputs(item.what) for item in requests
    ):
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
    """A data set from a path, a name, a table, columns, a series or a list.

    A table (polars, pandas, pyarrow, Hugging Face `datasets`) or a mapping of columns needs columns that say what they
    are (source, reference, translation, system, score …). A series or a list of sentences are sources; a list may also
    hold paths, rows as mappings, or (source, reference) pairs.
    """
    named = partial(
        read,
        columns=columns,
        language_pair=language_pair,
        reference=reference,
        targets=targets,
        inline_tags=inline_tags,
    )
    if isinstance(given, Dataset):
        return given
    if isinstance(given, str | Path):
        return named(given)
    if (table := given_table(given)) is not None:
        return _of_table(*_without_language_columns(table, language_pair), columns)
    items = as_list(given) if isinstance(given, Iterable) else []
    if items and all(isinstance(item, str | Path) for item in items):
        if not isinstance(given, list | tuple) or _are_sentences(list(map(str, items))):
            return _of_table(pl.DataFrame({"source": items}), language_pair, columns)
        return named(items)
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


def _are_sentences(names: Sequence[str]) -> bool:
    """Whether what could be names of files are sentences: one looks like it, and no other like a file."""
    return any(map(_is_sentence, names)) and all(_is_sentence(name) or _is_word(name) for name in names)


def _is_sentence(name: str) -> bool:
    try:
        return not name.strip() or (len(name.split()) > 2 and "[" not in name and not Path(name).exists())
    except OSError:
        return True  # longer than a file's name can be


def _is_word(name: str) -> bool:
    return not Path(name).suffix and not {"/", "[", ":"} & {*name} and not Path(name).exists()


def _of_table(table: pl.DataFrame, language_pair: str | None, columns: Mapping[str, str] | None) -> Dataset:
    if table.is_empty():
        raise UserError("the table is empty: there is nothing to study.")
    return to_dataset(
        Table("the table", IN_MEMORY, columns_of(table), range(1, table.height + 1), unit="row"), columns, language_pair
    )
