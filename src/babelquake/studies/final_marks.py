"""The splits of Jwalapuram 2023 §2.1: sentences by their final mark, full stops sampled, duplicates left out."""

import polars as pl

from babelquake.errors import UserError, setting
from babelquake.perturb.suite import Suite
from babelquake.randomness import Stream
from babelquake.text import ending

FINAL = "final-"


def are_split(suite: Suite) -> bool:
    """Whether a suite has perturbations that go by the final mark, so that sentences are split by it."""
    return any(perturbation.label.startswith(FINAL) for perturbation in suite.perturbations)


def unsampled(segments: pl.DataFrame, column: str, full_stops: int, seed: int) -> frozenset[int]:
    """Rows of full-stop sentences beyond a language pair's sample; which are sampled depends on the sentence alone."""
    left_out: set[int] = set()
    for _, part in segments.group_by("language_pair", maintain_order=True):
        stops = [
            (Stream(seed, "split", text).random(), row)
            for row, text in part.select("row", column).drop_nulls().iter_rows()
            if (end := ending(text)).kind == "stop" and not end.closing
        ]
        left_out |= {row for _, row in sorted(stops)[full_stops:]}
    return frozenset(left_out)


def not_sampled(segments: pl.DataFrame, column: str, suite: Suite, full_stops: int | None, seed: int) -> frozenset[int]:
    """The rows that `final-…` perturbations of a suite leave alone; none where nothing is sampled."""
    if full_stops is None:
        return frozenset()
    if not are_split(suite):
        raise UserError(
            f"{setting('full_stops', full_stops)} is about perturbations of final marks, and the suite has none. "
            f"Use {setting('limit', full_stops)} for fewer segments."
        )
    return unsampled(segments, column, full_stops, seed)


def of_the_sample(variants: pl.DataFrame, left_out: frozenset[int]) -> pl.DataFrame:
    """Variants without those of `final-…` perturbations on rows that were not sampled."""
    final = variants["perturbation"].str.starts_with(FINAL)
    if not left_out or not final.any():
        return variants
    here = left_out.intersection(variants["row"].unique())
    return variants.filter(~(final & variants["row"].is_in(list(here))))


def without_duplicates(segments: pl.DataFrame) -> pl.DataFrame:
    """The first of the segments of a language pair with the same source, then with the same first reference.

    A segment is left out whose source or reference came before; texts that are not there repeat nothing.
    """
    for text in (pl.col("source"), pl.col("references").list.first()):
        repeated = pl.struct("language_pair", text.alias("text")).is_first_distinct()
        segments = segments.filter(repeated | text.is_null())
    return segments
