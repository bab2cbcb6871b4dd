"""All results of the MT study: cells and their tests, inconsistency, differences, ranks, overall figures, failures."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from babelquake.engine import Progress
from babelquake.runs.chunks import pieces
from babelquake.runs.measures import Measure
from babelquake.runs.run import Run
from babelquake.scorers import Scorer
from babelquake.stats.resampling import Keys, segment_keys
from babelquake.studies.cells import Cell
from babelquake.studies.failure_cells import failure_cells
from babelquake.studies.mt.cells import cells, places
from babelquake.studies.mt.defences import defence_measures, defended_in
from babelquake.studies.mt.failures import failure_measures
from babelquake.studies.mt.inconsistency import inconsistency
from babelquake.studies.mt.injection import injection_measures
from babelquake.studies.mt.overall import overall, overall_figures
from babelquake.studies.mt.robustness import (
    cell_measures,
    ranks,
    robust_consis_correlation,
    self_agreement,
    system_differences,
)
from babelquake.studies.options import FailureEncoder
from babelquake.studies.segment_units import COLUMN, keys_by_row
from babelquake.studies.slices import slices_of
from babelquake.studies.tests_to_measures import enough
from babelquake.systems import System


def mt_results(
    scores: pl.DataFrame | pl.LazyFrame,
    translations: pl.DataFrame | pl.LazyFrame,
    scorers: list[Scorer],
    threshold: float,
    resamples: int,
    seed: int,
    quiet: bool = True,
    segments: pl.DataFrame | None = None,
    by: str | None = None,
    failures: pl.LazyFrame | None = None,
    encoder: FailureEncoder = "none",
    systems: Mapping[str | None, Sequence[System]] | None = None,
    margin: float = 0.2,
) -> list[Measure]:
    """All results of the study. Segments with a blank source are left out: there is nothing to perturb.

    `segments` say what is resampled where that is not sentences, and what they have in the column `by`: the measures of
    cells are told of every value of it too, tested in families apart. Systems are compared with each other; those of
    `systems` that stand behind defences only with the same system without, where clean text may lose `margin` points.
    """
    found = mt_cells(scores, translations, scorers, enough(resamples), seed, quiet, segments, by)
    keys, there = _keys(translations.lazy(), segments)
    told, slices = with_source(there), {} if segments is None else slices_of(segments, by)
    whole = [cell for cell in found if cell.place.group is None]
    measures = cell_measures(found)
    measures += inconsistency(translations.lazy(), told, keys, threshold, resamples, seed, slices)
    defended = {one.name for _, one in defended_in(systems or {})}
    bare = [cell for cell in whole if cell.place.system not in defended]
    measures += system_differences(bare) + ranks(bare) + robust_consis_correlation(bare) + overall(bare)
    if systems and defended:
        measures += overall_figures([cell for cell in whole if cell.place.system in defended])
        measures += defence_measures(whole, systems, scorers, margin)
    measures += self_agreement(whole)
    if failures is not None:
        measures += failure_measures(translations.lazy(), failures, told, keys, resamples, seed, encoder)
        measures += injection_measures(translations.lazy(), failures, told)
    return measures


def _keys(translations: pl.LazyFrame, segments: pl.DataFrame | None) -> tuple[Keys, NDArray[np.bool_]]:
    """For every row number the key of what is resampled, and whether it has a source."""
    keys, there = sentences(translations)
    return (keys if segments is None or COLUMN not in segments.columns else keys_by_row(segments)), there


def mt_cells(
    scores: pl.DataFrame | pl.LazyFrame,
    translations: pl.DataFrame | pl.LazyFrame,
    scorers: list[Scorer],
    resamples: int,
    seed: int,
    quiet: bool = True,
    segments: pl.DataFrame | None = None,
    by: str | None = None,
) -> list[Cell]:
    """The cells of a run, from its tables; those of slices after those of all."""
    keys, there = _keys(translations.lazy(), segments)
    scores, told = scores.lazy(), with_source(there)
    slices = {} if segments is None else slices_of(segments, by)
    found: list[Cell] = []
    with Progress("resampling", len(places(scores, told)), "cells", quiet) as progress:
        for some in cells(scores, translations.lazy(), scorers, told, keys, resamples, seed, slices):
            found += some
            progress.advance(1)
    return found


def all_cells(run: Run, scorers: list[Scorer], resamples: int, seed: int) -> list[Cell]:
    """The cells of a finished run: what scorers say, and how often translations fail."""
    translations, segments = run.scan("translations"), run.segments
    found = mt_cells(run.scan("scores"), translations, scorers, resamples, seed, segments=segments)
    if run.has("failures"):
        keys, there = _keys(translations, segments)
        on = ["language_pair", "system", "row", "perturbation", "level", "replicate"]
        made = translations.filter(with_source(there)).select(on).collect().with_row_index("place")
        made = made.with_columns(key=pl.Series(keys[made["row"].to_numpy()]))
        flags = run.table("failures").join(made.select(*on, "place"), on=on, how="inner", nulls_equal=True)
        found += failure_cells(run, made, flags, resamples, seed)
    return found


def sentences(translations: pl.LazyFrame) -> tuple[Keys, NDArray[np.bool_]]:
    """For every row number the key of its source, and whether it has one."""
    rows = int(translations.select(pl.col("row").max()).collect().item() or 0) + 1
    keys, there = np.zeros(rows, dtype=np.uint64), np.zeros(rows, dtype=np.bool_)
    clean = pl.col("perturbation").is_null() & (pl.col("source").str.strip_chars() != "")
    for piece in pieces(translations, clean, ["row", "source"]):
        new = piece.filter(~pl.Series(there[piece["row"].to_numpy()]))
        places = new["row"].to_numpy()
        keys[places], there[places] = segment_keys(new["source"]), True
    return keys, there


def with_source(there: NDArray[np.bool_]) -> pl.Expr:
    """Whether a row is of a segment that has a source."""
    return pl.lit(True) if there.all() else pl.col("row").is_in(pl.Series(np.flatnonzero(there)).implode())
