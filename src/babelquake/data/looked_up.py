"""References that stand elsewhere: found by the source they translate."""

from dataclasses import replace

import polars as pl

from babelquake.data.dataset import Dataset
from babelquake.errors import UserError


def looked_up(data: Dataset, others: Dataset) -> Dataset:
    """The data with the references that other data have for equal sources, in place of their own.

    Where the others translate one source several times, the last counts. Sources they do not have get none.
    """
    if not others.has("source") or not others.has("references"):
        raise UserError(f"{others.name} has no sources with references to look up.")
    known = (
        others.segments.filter(pl.col("references").list.len() > 0)
        .select(pl.col("source").str.strip_chars(), pl.col("references").alias("found"))
        .unique("source", keep="last", maintain_order=True)
    )
    joined = data.segments.with_columns(place=pl.col("source").str.strip_chars()).join(
        known, left_on="place", right_on="source", how="left", maintain_order="left"
    )
    segments = joined.with_columns(references=pl.col("found")).select(data.segments.columns)
    sources = segments.unique(["id", "language_pair"]).select("references")
    count = sources.height - sources["references"].null_count()
    if not count:
        raise UserError(f"{others.name} has none of the sources of {data.name}: its references belong to other data.")
    note = f"{data.name}: references are those of {others.name}, which has {count:,} of {sources.height:,} sources"
    return replace(data, segments=segments, notes=(*data.notes, note), reference=others.name, uncut=None)
