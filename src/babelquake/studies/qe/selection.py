"""Which translations the QE study probes, with what, and how many texts that makes."""

import numpy as np
import polars as pl

from babelquake.data import Dataset
from babelquake.errors import UserError, setting
from babelquake.languages import sides
from babelquake.perturb.suite import Suite
from babelquake.perturb.suite import suite as suite_of
from babelquake.studies.given_variants import COLUMN as GIVEN
from babelquake.studies.given_variants import with_given
from babelquake.studies.mask_model import with_masked_lm
from babelquake.studies.qe.options import QeOptions

DEFAULT_SUITE = "kanojia2021"
"""What translations are probed with unless the user or the data say otherwise."""
DEFAULT_SCORER = "qe-multi"
"""The estimator that ships: who is asked unless the user names others or brings their scores."""
TRANSLATIONS = "translation_perturbed"
"""The column of variants that data bring."""


def probes(options: QeOptions, segments: pl.DataFrame) -> tuple[Suite, list[str]]:
    """The suite, with the masked language model that its mask-replace (MAP6) asks, and what is to be said of it."""
    languages = [target_language(pair) for pair in segments["language_pair"].unique()]
    if options.suite is None and GIVEN in segments.columns:
        return Suite("", ()), []
    suite = suite_of(options.suite or DEFAULT_SUITE, options.replicates, options.vocabulary)
    return with_masked_lm(suite, options.masked_lm, languages)


def judged_segments(data: Dataset, by: str | None = None) -> pl.DataFrame:
    """Rows with a translation; in parallel data the reference stands for a good translation (§6.3).

    Variants that the data bring go with them, and the columns that they are resampled or told apart by.
    """
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
    columns += [name for name in dict.fromkeys(("document", by)) if name in segments.columns and name not in columns]
    if data.has(TRANSLATIONS):
        segments = segments.unique(["id", "language_pair", "system"], maintain_order=True)
    numbered = (
        segments.filter(pl.col("translation").is_not_null() & pl.col("source").is_not_null())
        .with_columns(references=references, text=pl.col("translation"))
        .drop("row", strict=False)
        .with_row_index("row")
        .select(columns)
    )
    return with_given(numbered, data, TRANSLATIONS, "text")[0]


def select(segments: pl.DataFrame, threshold: float) -> tuple[pl.DataFrame, str]:
    """The high-quality segments, renumbered, and one sentence that says which they are."""
    if segments["score"].null_count() == segments.height:
        return segments, f"no human scores: all {segments.height} translations count as good and are probed."
    kept = segments.filter(pl.col("score") >= threshold)
    if not kept.height:
        highest = float(np.nanmax(segments["score"].to_numpy()))
        raise UserError(
            f"no segment has a human score of {threshold:g} or more (the highest is {highest:g}). Use a lower "
            f"{setting('threshold')}."
        )
    text = f"{kept.height} of {segments.height} segments have a human score of {threshold:g} or more: these are probed."
    return kept.drop("row").with_row_index("row"), text


def target_language(pair: str | None) -> str | None:
    """The language that is perturbed."""
    return sides(pair)[1]
