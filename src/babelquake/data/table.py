"""From a file's columns to a data set: the step all table formats share."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import polars as pl

from babelquake.data.columns import VARIANTS, language_columns, language_header, near_misses, resolve, vendors
from babelquake.data.dataset import SCHEMA, Dataset, Request
from babelquake.errors import UserError, setting
from babelquake.languages import LanguagePair, pair_in_path

NOT_JUDGED = frozenset({"", "none", "na", "n/a", "nan", "null"})
"""What files write where there is no score."""
RENAMED = {"row": "data_row"}
"""Further columns that go by another name: runs number their rows by themselves."""

TRANSLATION, SYSTEM = "translation by vendor", "vendor"
"""The columns that a table with one column of translations per vendor gets."""

Values = Sequence[Any] | pl.Series
"""A column: large ones are polars series, which take a fifth of the memory."""


@dataclass
class Table:
    """The columns of one file as read, and where each row stood."""

    label: str
    """The input as errors call it: as the user wrote it."""
    name: str
    """The data as notes, ids and runs call them."""
    columns: dict[str, Values]
    lines: Sequence[int]
    unit: str = "line"
    notes: list[str] = field(default_factory=list)

    def where(self, row: int) -> str:
        """A row as messages call it: `news.tsv line 812`."""
        return f"{self.label} {self.unit} {self.lines[row]}"


def to_dataset(
    table: Table,
    columns: Mapping[str, str] | None = None,
    language_pair: str | None = None,
    default_pair: str | None = None,
) -> Dataset:
    """Find the fields, check them, count blanks, and give every row an id.

    `language_pair` is the user's word: it fills the column, or selects rows where the file has one. `default_pair` is
    what the file's name says.
    """
    if named := vendors(columns):
        table, columns = _by_vendor(table, named), {k: v for k, v in (columns or {}).items() if ":" not in k}
        columns |= {"translation": TRANSLATION, "system": SYSTEM}
    header = list(table.columns)
    default_pair = default_pair or (language_header(header) if "source" not in header else None)
    chosen = resolve(header, columns, table.label)
    notes = [*table.notes, *(f"{table.name}: {note}" for note in near_misses(header, chosen))]
    if language_pair and default_pair and LanguagePair(language_pair).codes != LanguagePair(default_pair).codes:
        option = setting("language_pair", language_pair)
        notes.append(f"{table.name}: the name of the file or its columns say {default_pair}; {option} is used")
    texts = {
        name: text_series(table, chosen[name][0]) if name in chosen else None
        for name in ("source", "translation", "system")
    }
    references = _references(table, chosen.get("reference", []))
    given = pl.Series(dtype=pl.String) if references is None else references.list.explode().drop_nulls()
    if 0 < len(given) == _blank_texts(given):
        references = None
        notes.append(f"{table.name}: every reference is blank; the data count as having none")
    if texts["source"] is None and texts["translation"] is None and references is None:
        raise UserError(
            f"{table.label} has no column for source, reference or translation. Its columns are: {', '.join(header)}. "
            f"Say which is which, for example: {setting('columns', {'source': 'a', 'reference': 'b'})}."
        )
    nothing = pl.Series([None]).new_from_index(0, len(table.lines))
    source, translation, system = (nothing if found is None else found for found in texts.values())
    system = system.cast(pl.String).replace("", None)
    frame: dict[str, Values] = {
        "id": _ids(table, chosen, source.cast(pl.String), translation.cast(pl.String), system, notes),
        "source": source,
        "references": nothing if references is None else references,
        "translation": translation,
        "system": system,
        "score": numbers(table, chosen["score"][0]) if "score" in chosen else nothing,
        "language_pair": _pairs(table, chosen, language_pair, default_pair),
    }
    used = {name for names in chosen.values() for name in names}
    said = [name for name in (*VARIANTS, "document") if name in chosen]
    further = {name: inferred(values) for name, values in table.columns.items() if name not in used | set(SCHEMA)}
    extra = {RENAMED.get(name, name): values for name, values in further.items()}
    extra |= {name: _as_text(table, chosen[name][0]) for name in said}
    notes += [f"{table.name}: column '{name}' was renamed to {RENAMED[name]}" for name in RENAMED if name in further]
    series = [pl.Series(name, frame[name], dtype=cast(pl.DataType, kind)) for name, kind in SCHEMA.items()]
    segments = pl.DataFrame(series).with_columns(**extra)
    _refuse_repeated(table, segments)
    if language_pair and "language_pair" in chosen:
        found = ", ".join(sorted(map(str, segments["language_pair"].unique())))
        segments = segments.filter(pl.col("language_pair") == LanguagePair(language_pair))
        if segments.is_empty():
            raise UserError(f"{table.label} has no rows of {language_pair}. It has: {found}.")
    return Dataset(table.name, segments, notes=(*notes, *blanks(segments, table.name)))


def dataset_of(request: Request, table: Table) -> Dataset:
    """A file's table as the request has it; where nothing else does, the file's path tells the languages."""
    return to_dataset(table, request.columns, request.language_pair, pair_in_path(request.path))


def text_series(table: Table, column: str) -> pl.Series:
    """A column of text; anything but text or nothing is an error."""
    values = table.columns[column]
    if isinstance(values, pl.Series) and values.dtype == pl.String:
        return values
    for row, value in enumerate(values):
        if value is not None and not isinstance(value, str):
            raise UserError(f"{table.where(row)}: {column} is {value!r} where text is expected.")
    return pl.Series(values, dtype=pl.String)


def columns_of(frame: pl.DataFrame) -> dict[str, Values]:
    """The columns of a polars table: texts as they are, everything else as Python values."""
    return {name: frame[name] if frame[name].dtype == pl.String else frame[name].to_list() for name in frame.columns}


def numbers(table: Table, column: str) -> list[float | None]:
    """A column of scores; blank or `None` means not judged."""
    return [number(value, f"{table.where(row)}: {column}") for row, value in enumerate(table.columns[column])]


def number(value: Any, where: str) -> float | None:
    """A score, None where there is none, or an error that says where it stands."""
    if value is None or (isinstance(value, str) and value.strip().lower() in NOT_JUDGED):
        return None
    try:
        score = float(value) if not isinstance(value, str) or "_" not in value else math.inf
    except (TypeError, ValueError):
        score = math.inf
    if math.isnan(score):
        return None
    if math.isinf(score):
        raise UserError(f"{where} is {value!r}. Expected a number, or nothing where there is no judgement.")
    return score


def blanks(segments: pl.DataFrame, name: str) -> list[str]:
    """How many texts are blank, per field; they are kept."""
    counts = {
        "sources": (segments["source"], _blank_texts(segments["source"])),
        "references": (segments["references"], _blank_texts(segments["references"].list.explode())),
        "translations": (segments["translation"], _blank_texts(segments["translation"])),
    }
    return [
        f"{name}: {blank} of {column.len() - column.null_count()} {what} {'is' if blank == 1 else 'are'} blank"
        for what, (column, blank) in counts.items()
        if blank
    ]


def inferred(values: Values) -> pl.Series:
    """A further column with the type its values have: numbers where all are numbers, otherwise text or lists."""
    if isinstance(values, pl.Series) or all(value is None or isinstance(value, str) for value in values):
        text = pl.Series(values, dtype=pl.String)
        if not text.is_null().all() and text.str.contains(r"^(-?(0|[1-9]\d{0,14})(\.\d+)?([eE][+-]?\d{1,3})?)?$").all():
            given = text.replace("", None)
            if given.null_count() < len(given):
                return given.cast(pl.Float64 if text.str.contains(r"[.eE]").any() else pl.Int64)
        return text
    try:
        return pl.Series(values, strict=True)
    except (TypeError, pl.exceptions.PolarsError):
        return pl.Series([None if value is None else _written(value) for value in values], dtype=pl.String)


def _written(value: Any) -> str:
    """A value among others of another type: what is nested as JSON."""
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, dict | list) else str(value)


def _blank_texts(texts: pl.Series) -> int:
    return int((texts.drop_nulls().str.strip_chars() == "").sum())


def _references(table: Table, names: Sequence[str]) -> pl.Series | None:
    """The references of each row. A blank cell in a further reference column means there is none."""
    if not names:
        return None
    values = table.columns[names[0]]
    if len(names) == 1 and not isinstance(values, pl.Series) and any(isinstance(value, list) for value in values):
        lists: list[list[str] | None] = []
        for row, value in enumerate(values):
            some = [value] if isinstance(value, str) else value
            if some is not None and not (isinstance(some, list) and all(isinstance(text, str) for text in some)):
                raise UserError(f"{table.where(row)}: {names[0]} is {value!r} where texts are expected.")
            lists.append(some)
        return _list_series(lists)
    first, *further = (text_series(table, name).rename(str(place)) for place, name in enumerate(names))
    side_by_side = pl.DataFrame([first, *(column.replace("", None) for column in further)])
    together = pl.concat_list(pl.all())
    if not further:
        return side_by_side.select(pl.when(pl.col("0").is_not_null()).then(together))["0"]
    return side_by_side.select(together.list.drop_nulls())["0"]


def _list_series(lists: Sequence[Sequence[str] | None]) -> pl.Series:
    """Lists of texts as one column, built side by side: a Python list per row would be ten times slower."""
    width = max((len(some) for some in lists if some is not None), default=0)
    if not width:
        return pl.Series("references", lists, dtype=pl.List(pl.String))
    padded = [
        pl.Series(str(place), [some[place] if some and place < len(some) else None for some in lists], dtype=pl.String)
        for place in range(width)
    ]
    given = pl.Series("given", [some is not None for some in lists])
    joined = pl.when("given").then(pl.concat_list(pl.exclude("given")).list.drop_nulls())
    return pl.DataFrame([*padded, given]).select(joined.alias("references"))["references"]


def _pairs(table: Table, chosen: Mapping[str, Sequence[str]], given: str | None, default: str | None) -> pl.Series:
    fallback = LanguagePair(given) if given else default
    if "language_pair" in chosen:
        said = text_series(table, chosen["language_pair"][0])
    elif (both := language_columns(list(table.columns))) and not given:
        parts = pl.DataFrame([text_series(table, name).rename(str(place)) for place, name in enumerate(both)])
        said = parts.select(pl.concat_str(pl.all(), separator="-"))["0"]
    else:
        return pl.Series([fallback], dtype=pl.String).new_from_index(0, len(table.lines))
    meant = {name: LanguagePair.known(name) or name or fallback for name in said.unique()}
    return said.replace_strict(list(meant), list(meant.values()), return_dtype=pl.String)


def _ids(
    table: Table,
    chosen: Mapping[str, Sequence[str]],
    source: pl.Series,
    translation: pl.Series,
    system: pl.Series,
    notes: list[str],
) -> pl.Series:
    """The file's own ids where they name segments, otherwise the line on which a source first stands.

    The n-th time a system translates the same source, its row gets the id of the n-th such line: so repeated sentences
    of a test set stay apart while all systems' translations of one share its id. Several perturbed versions of one
    source that a table brings share its id too, where they share the translation of the clean source.
    """
    rows: dict[str, pl.Series] = {"source": source, "system": system}
    versions: list[str] = []
    if any(name in chosen for name in VARIANTS if name != "perturbation"):
        versions = [name for name in VARIANTS if name in chosen]
        rows |= {"translation": translation} | {name: _as_text(table, chosen[name][0]) for name in versions}
    if "id" in chosen:
        name = chosen["id"][0]
        prefix = "" if name == "id" else f"{table.name}:"
        ids = pl.Series([f"{prefix}{value}" for value in table.columns[name]], dtype=pl.String)
        if _names_segments(pl.DataFrame({"id": ids, **rows}), versions):
            return ids
        notes.append(f"{table.name}: column '{name}' does not name segments uniquely; line numbers are used as ids")
    lines = pl.Series(np.asarray(table.lines, dtype=np.int64))
    said = pl.DataFrame({"line": lines, **rows})
    same: list[str] = ["source", "system"]
    if versions and said.select(*same, "translation").unique().height == said.select(same).unique().height:
        same += versions
    time = pl.int_range(pl.len()).over(same).alias("time")
    first = pl.col("line").first().over("source", "time")
    where = pl.when(pl.col("source").is_not_null()).then(first).otherwise("line")
    named = said.with_columns(time).select(pl.concat_str(pl.lit(f"{table.name}:"), where.cast(pl.String)))
    return named.to_series()


def _names_segments(segments: pl.DataFrame, versions: Sequence[str]) -> bool:
    """Whether ids and systems tell all rows apart, and an id always means the same source.

    Rows of a table that brings variants are told apart by these as well, or are repeated, which is an error elsewhere.
    """
    if not versions and segments.select("id", "system").is_duplicated().any():
        return False
    return segments.select("id", "source").unique().height == segments["id"].n_unique()


def _refuse_repeated(table: Table, segments: pl.DataFrame) -> None:
    """Refuse two rows of a table with variants that say the same of the same: one of them must have another label."""
    same = ["id", "system", "language_pair", *(name for name in VARIANTS if name in segments.columns)]
    if len(same) == 3 or not segments.select(same).is_duplicated().any():
        return
    places = segments.with_row_index("place").group_by(same, maintain_order=True).agg("place")
    first, second, *_ = next(found for found in places["place"] if len(found) > 1)
    raise UserError(
        f"{table.where(second)} repeats {table.unit} {table.lines[first]}: the same id, system, perturbation and "
        "texts. Give one of them another id or perturbation, or delete it."
    )


def _as_text(table: Table, column: str) -> pl.Series:
    """A column of texts or labels; numbers that name documents are texts too."""
    values = table.columns[column]
    if isinstance(values, pl.Series) and values.dtype == pl.String:
        return values
    whole = [int(value) if isinstance(value, float) and value.is_integer() else value for value in values]
    return pl.Series([None if value is None else str(value) for value in whole], dtype=pl.String)


def _by_vendor(table: Table, named: Mapping[str, str]) -> Table:
    """A table with one column of translations per vendor as one with a row per vendor and segment."""
    for column in named.values():
        if column not in table.columns:
            raise UserError(f"{table.label} has no column '{column}'. Its columns are: {', '.join(table.columns)}.")
    own, copies = [name for name in table.columns if name not in named.values()], len(named)
    columns: dict[str, Values] = {name: list(table.columns[name]) * copies for name in own}
    columns[TRANSLATION] = [text for column in named.values() for text in table.columns[column]]
    columns[SYSTEM] = [name for name in named for _ in table.lines]
    return replace(table, columns=columns, lines=list(table.lines) * copies)


def given_table(given: Any) -> pl.DataFrame | None:
    """Whatever has columns by name, as a table of polars; libraries are recognised by what they offer."""
    if isinstance(given, pl.DataFrame):
        return given
    if isinstance(given, pl.LazyFrame):
        return given.collect()
    if hasattr(given, "columns") and hasattr(given, "notna"):
        return _of_pandas(given)
    if hasattr(given, "column_names"):  # pyarrow's tables, datasets of Hugging Face
        if isinstance(given.column_names, Mapping):
            if len(given.column_names) == 1:
                return given_table(next(iter(given.values())))
            splits = ", ".join(map(str, given.column_names))
            raise UserError(f"these data have several splits ({splits}). Use one of them, such as data['test'].")
        columns = given.to_pydict() if hasattr(given, "to_pydict") else given.to_dict()
        return _of_columns(columns)
    return _of_columns(given) if isinstance(given, Mapping) else None


def _of_columns(given: Mapping[str, Any]) -> pl.DataFrame:
    """Columns by name, as long as each other."""
    try:
        return pl.DataFrame(dict(given), strict=False)
    except (TypeError, pl.exceptions.PolarsError) as error:
        raise UserError(f"columns of data must be lists of equal length, by name: {error}") from None


def _of_pandas(table: Any) -> pl.DataFrame:
    """A table of pandas, which need not be installed here; what it calls missing is None."""
    cells = table.astype(object).where(table.notna(), None)
    return pl.DataFrame({str(name): cells[name].tolist() for name in cells.columns}, strict=False)
