"""What the MT study sends to a system: every source once, and its perturbed versions."""

import polars as pl

from babelquake.data import Dataset
from babelquake.data.columns import VARIANTS
from babelquake.languages import sides
from babelquake.perturb.suite import Suite
from babelquake.perturb.suite import suite as suite_of
from babelquake.studies.final_marks import without_duplicates
from babelquake.studies.given_variants import brings_variants, refuse_shared_labels, with_given
from babelquake.studies.resolve import Perturbations

DEFAULT_SUITE = "everyday"
"""What sources are perturbed by unless the user or the data say otherwise."""


def suite_for(asked: Perturbations | None, data: Dataset, replicates: int | None, vocabulary: str | None) -> Suite:
    """The perturbations to make: those asked for, or none where the data bring variants of their own."""
    if asked is None and brings_variants(data):
        return Suite("", ())
    chosen = suite_of(asked if asked is not None else DEFAULT_SUITE, replicates, vocabulary)
    refuse_shared_labels(data, chosen)
    return chosen


def sources_of(data: Dataset, deduplicate: bool = False) -> tuple[pl.DataFrame, list[str]]:
    """Every source once, numbered, with the variants that the data bring, and what there is to say of these."""
    return with_given(one_row_per_source(data.segments, deduplicate), data)


def one_row_per_source(segments: pl.DataFrame, deduplicate: bool = False) -> pl.DataFrame:
    """The segments without translations they may come with, numbered; on request without duplicates."""
    own = {"translation", "system", "score", "row", *VARIANTS}
    columns = [name for name in segments.columns if name not in own]
    once = segments.unique(["id", "language_pair"], maintain_order=True).select(columns)
    return (without_duplicates(once) if deduplicate else once).with_row_index("row")


def source_language(pair: str | None) -> str | None:
    """The language that is perturbed."""
    return sides(pair)[0]
