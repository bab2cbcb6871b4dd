"""Segments are the unit of chance: what varies is which sentences happen to be in the test set.

Sentences of one document are not independent: where whole documents are resampled (`--unit document`), a segment is
known by its document.

A segment is known by its sentence – the source, or where there is none the reference or the id – and not by its
row: several systems' translations of one sentence, replicates of a perturbation and repeated lines are one unit,
and the order of rows means nothing.
"""

import numpy as np
import polars as pl

from babelquake.data import Dataset
from babelquake.errors import UserError, setting
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
