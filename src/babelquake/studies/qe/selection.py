"""Which translations the QE study probes, with what, and how many texts that makes."""

import numpy as np
import polars as pl

from babelquake.data import Dataset
from babelquake.errors import UserError
from babelquake.languages import sides
from babelquake.perturb.suite import Suite
from babelquake.perturb.suite import suite as suite_of
from babelquake.studies.mask_model import with_masked_lm
from babelquake.studies.qe.options import QeOptions


def probes(options: QeOptions, segments: pl.DataFrame) -> tuple[Suite, list[str]]:
    """The suite, with the masked language model that its mask-replace (MAP6) asks, and what is to be said of it."""
    languages = [target_language(pair) for pair in segments["language_pair"].unique()]
    suite = suite_of(options.suite, options.replicates, options.vocabulary)
    return with_masked_lm(suite, options.masked_lm, languages)


def judged_segments(data: Dataset) -> pl.DataFrame:
    """Rows with a translation; in parallel data the reference stands for a good translation (§6.3)."""
    segments = data.segments
    if not data.has("source"):
        raise UserError(f"{data.name} has no sources: quality estimation judges a translation by its source.")
    if not data.has("translation"):
        if not data.has("references"):
            raise UserError(f"{data.name} has neither translations nor references to probe.")
        segments = segments.with_columns(
            translation=pl.col("references").list.first(), references=pl.lit(None, pl.List(pl.String))
        )
    references = pl.when(pl.col("references").is_null()).then(pl.concat_list("source")).otherwise(pl.col("references"))
    columns = ["row", "id", "language_pair", "system", "text", "source", "translation", "references", "score"]
    return (
        segments.filter(pl.col("translation").is_not_null() & pl.col("source").is_not_null())
        .with_columns(references=references, text=pl.col("translation"))
        .drop("row", strict=False)
        .with_row_index("row")
        .select(columns)
    )


def select(segments: pl.DataFrame, threshold: float) -> tuple[pl.DataFrame, str]:
    """The high-quality segments, renumbered, and one sentence that says which they are."""
    if segments["score"].null_count() == segments.height:
        return segments, f"no human scores: all {segments.height} translations are taken as good ones and probed."
    kept = segments.filter(pl.col("score") >= threshold)
    if not kept.height:
        highest = float(np.nanmax(segments["score"].to_numpy()))
        raise UserError(
            f"no segment has a human score of {threshold:g} or more (the highest is {highest:g}): lower --threshold."
        )
    text = f"{kept.height} of {segments.height} segments have a human score of {threshold:g} or more: these are probed."
    return kept.drop("row").with_row_index("row"), text


def target_language(pair: str | None) -> str | None:
    """The language that is perturbed."""
    return sides(pair)[1]
