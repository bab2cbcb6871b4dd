"""All results of the MT study: cells and their tests, inconsistency, differences, ranks, overall figures, changes."""

import polars as pl

from babelquake.engine import Progress
from babelquake.runs.measures import Measure
from babelquake.scorers import Scorer
from babelquake.studies import kinds
from babelquake.studies.cells import Cell
from babelquake.studies.measuring import enough
from babelquake.studies.mt.cells import VARIANT, cells, places
from babelquake.studies.mt.inconsistency import inconsistency
from babelquake.studies.mt.overall import overall
from babelquake.studies.mt.robustness import cell_measures, ranks, robust_consis_correlation, system_differences
from babelquake.studies.units import keys_by_row


def mt_results(
    scores: pl.DataFrame | pl.LazyFrame,
    translations: pl.DataFrame | pl.LazyFrame,
    judges: list[Scorer],
    threshold: float,
    resamples: int,
    seed: int,
    quiet: bool = True,
) -> list[Measure]:
    """All results of the study. Segments with a blank source are left out: there is nothing to perturb."""
    found = mt_cells(scores, translations, judges, enough(resamples), seed, quiet)
    sources = sources_of(translations)
    kept = _with_source(translations, sources)
    measures = cell_measures(found)
    measures += inconsistency(kept, changed_sources(kept, sources), keys_by_row(sources), threshold, resamples, seed)
    measures += system_differences(found) + ranks(found) + robust_consis_correlation(found) + overall(found)
    return measures + _changes(kept)


def mt_cells(
    scores: pl.DataFrame | pl.LazyFrame,
    translations: pl.DataFrame | pl.LazyFrame,
    judges: list[Scorer],
    resamples: int,
    seed: int,
    quiet: bool = True,
) -> list[Cell]:
    """The cells of a run, from its tables."""
    sources = sources_of(translations)
    kept = _with_source(scores, sources)
    changed = changed_sources(_with_source(translations, sources), sources)
    found: list[Cell] = []
    with Progress("resampling", len(places(kept)), "cells", quiet) as progress:
        for some in cells(kept, judges, keys_by_row(sources), changed, resamples, seed):
            found += some
            progress.advance(1)
    return found


def _with_source(table: pl.DataFrame | pl.LazyFrame, sources: pl.DataFrame) -> pl.LazyFrame:
    """A table's rows of segments that have a source, in their order."""
    return table.lazy().filter(pl.col("row").is_in(sources["row"].implode()))


def sources_of(translations: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """Row and source of every segment that has one."""
    clean = translations.lazy().filter(pl.col("perturbation").is_null() & (pl.col("source").str.strip_chars() != ""))
    return clean.select("row", "source").unique("row", maintain_order=True).collect()


def changed_sources(translations: pl.LazyFrame, sources: pl.DataFrame) -> pl.DataFrame:
    """Row, perturbation, level and replicate of every perturbed source that differs from its original."""
    noisy = translations.filter(pl.col("perturbation").is_not_null()).select(*VARIANT, "source").unique(VARIANT)
    both = noisy.join(sources.lazy().rename({"source": "original"}), on="row")
    return both.filter(pl.col("source") != pl.col("original")).select(VARIANT).collect()


def _changes(translations: pl.LazyFrame) -> list[Measure]:
    """Per system and perturbation: the share of each kind of change, in per cent."""
    groups = ["language_pair", "system", "perturbation", "level"]
    noisy = translations.filter(pl.col("perturbation").is_not_null())
    counts = noisy.group_by([*groups, "change"], maintain_order=True).agg(pl.len())
    totals = noisy.group_by(groups, maintain_order=True).agg(pl.len().alias("n"))
    joined = counts.join(totals, on=groups, how="left", nulls_equal=True, maintain_order="left").collect()
    return [
        Measure(
            kinds.changed(row["change"]), 100 * row["len"] / row["n"], row["n"], **{name: row[name] for name in groups}
        )
        for row in joined.iter_rows(named=True)
    ]
