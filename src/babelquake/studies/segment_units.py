"""Segments are the unit of chance: what varies is which sentences happen to be in the test set.

Sentences of one document are not independent: where whole documents are resampled (`--unit document`), a segment is
known by its document.

A segment is known by its sentence – the source, or where there is none the reference or the id – and not by its
row: several systems' translations of one sentence, replicates of a perturbation and repeated lines are one unit,
and the order of rows means nothing.

Parts of the data are looked at one by one: the segments of each value of a column (`--by`). A column of lists puts a
segment into several slices, such as every phenomenon that was annotated in it. Numbers with many values are cut into
quarters; `length` is the number of words of the source, in bands, where the data have no such column.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from babelquake.data import Dataset
from babelquake.errors import UserError, did_you_mean, setting
from babelquake.stats.resampling import Keys, segment_keys
from babelquake.studies.options import Unit

COLUMN = "resampling_unit"
"""The column of segments that are known by their document."""


def unit_for(asked: Unit | None, data: Dataset, given: bool) -> Unit:
    """What is resampled: documents where the user says so, or where data that bring variants have documents."""
    if asked == "document" and not data.has("document"):
        raise UserError(f"{setting('unit', 'document')}: {data.name} has no column document.")
    return asked or ("document" if given and data.has("document") else "segment")


def with_units(segments: pl.DataFrame, unit: Unit) -> pl.DataFrame:
    """Segments that know by what they are resampled; those without a document stand for themselves."""
    if unit == "segment":
        return segments
    named = pl.concat_str(pl.lit("document "), pl.col("language_pair").fill_null(""), pl.lit(" "), "document")
    return segments.with_columns(pl.when(pl.col("document").is_not_null()).then(named).alias(COLUMN))


def unit_keys(segments: pl.DataFrame) -> Keys:
    """The key of every row's document where these are resampled, or else of its source, its first reference, its id."""
    candidates = []
    for name in (COLUMN, "source", "references", "id"):
        if name in segments.columns:
            column = pl.col(name).list.first() if isinstance(segments.schema[name], pl.List) else pl.col(name)
            column = column.cast(pl.String)
            candidates.append(pl.when(column.str.strip_chars() != "").then(column))
    named = segments.select(pl.coalesce(*candidates, pl.lit("")).alias("name"))["name"]
    return segment_keys(named)


def keys_by_row(segments: pl.DataFrame) -> Keys:
    """The key of the sentence of row number r, at place r."""
    rows = segments["row"].to_numpy()
    keys = np.zeros(int(rows.max()) + 1 if rows.size else 0, dtype=np.uint64)
    keys[rows] = unit_keys(segments)
    return keys


Rows = NDArray[np.uint32]
Slices = Mapping[str, Rows]
"""Value → the rows of its segments."""
LENGTH = "length"
BANDS = (1, 6, 11, 21, 41)
"""Where bands of length begin, in words."""
MOST_VALUES = 12
"""Numbers with more different values than this are cut into quarters."""
MOST_SLICES = 500
OURS = frozenset({"row", "given", "references", "source", "text", "translation", "resampling_unit"})


def slicing_column(by: str | None, columns: pl.DataFrame) -> str | None:
    """The column to look at the data by, or what is wrong with its name."""
    known = [name for name in columns.columns if name not in OURS]
    if by is not None and by not in known and by != LENGTH:
        raise UserError(f"{setting('by', by)}: the data have no such column. {did_you_mean(by, [*known, LENGTH])}")
    return by


def slices_of(segments: pl.DataFrame, by: str | None) -> Slices:
    """The rows of every value, the values in order; nothing where nobody asks."""
    if by is None or slicing_column(by, segments) is None:
        return {}
    named = segments.select("row", value=_values(segments, by)).drop_nulls()
    found = dict(_by_value(named))
    if len(found) > MOST_SLICES:
        raise UserError(
            f"{setting('by', by)}: {len(found):,} different values. At most {MOST_SLICES} can be looked at."
        )
    return found


def groups_of(
    table: pl.DataFrame, labels: Mapping[str, str], slices: Slices | None
) -> Iterator[tuple[dict[str, Any], pl.DataFrame]]:
    """All rows; those of each value of the columns `labels`; those of each slice whose name no value has.

    Each with the column of measures that names the group, which `labels` says of a column, and its name.
    """
    yield {}, table
    known = set()
    for column, named in labels.items():
        for (name,), some in table.drop_nulls(column).group_by(column, maintain_order=True):
            yield {named: str(name)}, some
            known.add((named, str(name)))
    for name, inside in (slices or {}).items():
        some = table.filter(pl.col("row").is_in(pl.Series(inside).implode()))
        if ("group", name) not in known and some.height:
            yield {"group": name}, some


def _by_value(named: pl.DataFrame) -> Iterator[tuple[str, Rows]]:
    if isinstance(named.schema["value"], pl.List):
        named = named.explode("value").drop_nulls()
    if named.schema["value"].is_numeric() and named["value"].n_unique() > MOST_VALUES:
        named = named.with_columns(value=_quarters(named["value"]))
    for (value,), part in named.sort("value", maintain_order=True).group_by("value", maintain_order=True):
        text = f"{value:g}" if isinstance(value, float) else str(value)
        if text:
            yield text, np.unique(part["row"].to_numpy())


def _values(segments: pl.DataFrame, by: str) -> pl.Series:
    if by in segments.columns:
        return segments[by]
    words = segments["source"].fill_null("").str.count_matches(r"\S+")
    names = [f"{start:02d}–{after - 1} words" for start, after in pairwise(BANDS)]
    names.append(f"{BANDS[-1]} words or more")
    places = np.searchsorted(BANDS, words.to_numpy(), side="right") - 1
    return pl.Series([names[place] if place >= 0 else None for place in places], dtype=pl.String)


def _quarters(values: pl.Series) -> pl.Series:
    """Numbers as the quarter they lie in, named by its ends."""
    edges = [float(values.quantile(share, "nearest") or 0) for share in (0, 0.25, 0.5, 0.75, 1)]
    places = np.clip(np.searchsorted(edges[1:], values.to_numpy(), side="left"), 0, 3)
    names = [f"{place + 1}: {edges[place]:g} to {edges[place + 1]:g}" for place in range(4)]
    return pl.Series([names[place] for place in places], dtype=pl.String)
