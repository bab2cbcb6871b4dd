"""All results of the MT study: cells and their tests, inconsistency, differences, ranks, overall figures, failures."""

from collections.abc import Mapping, Sequence
from math import sqrt

import numpy as np
import polars as pl
from numpy.typing import NDArray

from babelquake.engine import Progress
from babelquake.perturb.labels import known_card
from babelquake.runs.chunks import counted, pieces, same
from babelquake.runs.measures import Kind, Measure
from babelquake.runs.run import Run
from babelquake.scorers import Scorer
from babelquake.scorers.base import Array
from babelquake.stats.bootstrap import bootstrap, ratio_of
from babelquake.stats.intervals import wilson
from babelquake.stats.resampling import Keys, segment_keys
from babelquake.stats.units import by_unit
from babelquake.stats.variance_components import components
from babelquake.studies.cells import Cell
from babelquake.studies.failure_cells import failure_cells
from babelquake.studies.inquiries import REPEAT
from babelquake.studies.kinds import over_changed
from babelquake.studies.mt import kinds
from babelquake.studies.mt.cells import cells, places
from babelquake.studies.mt.defences import defence_measures, defended_in
from babelquake.studies.mt.failures import failure_measures
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
from babelquake.studies.slices import Slices, slices_of
from babelquake.studies.tests_to_measures import enough, measured
from babelquake.systems import System

PLACE = ["language_pair", "system", "scorer"]
PROMPT = ["perturbation", "level", "replicate"]


def prompt_variance(scores: pl.LazyFrame) -> list[Measure]:
    """What matters more, the wording of the prompt or the source? Standard deviations per system and scorer.

    Every source is translated with every prompt: a table of scores without gaps, whose variance has three parts: over
    prompts, over sources, and the rest.
    """
    rows = scores.filter(pl.col("perturbation").ne_missing(REPEAT)).select(*PLACE, "row", *PROMPT, "score").collect()
    measures = []
    for place, part in rows.group_by(PLACE, maintain_order=True):
        table = _table(part)
        if min(table.shape) < 2:
            continue
        where = dict(zip(PLACE, place, strict=True))
        parts = components(table)
        sizes = (table.shape[1], table.shape[0], table.size)
        for kind, found, n in zip((kinds.SD_PROMPTS, kinds.SD_SOURCES, kinds.SD_REST), parts, sizes, strict=True):
            measures.append(Measure(kind, found.value, n, low=found.low, high=found.high, **where))
    return measures


def _table(part: pl.DataFrame) -> Array:
    """Sources × prompts; a prompt with which a source has no score is left out."""
    known = part.filter(pl.col("score").is_finite())
    named = known.with_columns(
        prompt=pl.concat_str([pl.col(name).cast(pl.String).fill_null("") for name in PROMPT], separator="|")
    )
    if named.is_empty():
        return np.zeros((0, 0))
    wide = named.pivot("prompt", index="row", values="score", aggregate_function="mean").drop("row")
    full = [name for name in wide.columns if wide[name].null_count() == 0]
    return wide.select(full).to_numpy()


CELL = ["language_pair", "system", "perturbation", "level"]
KEYS = [*CELL, "row", "replicate"]


def injection_measures(translations: pl.LazyFrame, failures: pl.LazyFrame, told: pl.Expr) -> list[Measure]:
    """Did it translate or obey? Per system and form of the instruction; `told` says which rows count.

    `obeyed` and `translated` are shares of translations, with Wilson's intervals by segment. They do not add up to
    100: a copy of the source, a text cut off or an answer to somebody else's question is neither, and a question that
    was translated and then answered is both. ROBUST and CONSIS of these perturbations are about what was translated
    beside the instruction (`reset.without_instruction`).
    """
    there = translations.select(pl.col("perturbation").drop_nulls().unique()).collect()["perturbation"].to_list()
    labels = [label for label in there if (card := known_card(label)) is not None and card.injects]
    if not labels:
        return []
    injected = told & pl.col("perturbation").is_in(labels)
    made = translations.filter(injected).select(KEYS)
    for name, kind in (("obeyed", "obeyed"), ("lost", "not-translated")):
        flags = failures.filter(injected & (pl.col("kind") == kind)).select(KEYS).unique()
        marked = flags.with_columns(pl.lit(1.0).alias(name))
        made = made.join(marked, on=KEYS, how="left", nulls_equal=True).with_columns(pl.col(name).fill_null(0.0))
    shares = (
        made.group_by(CELL, maintain_order=True)
        .agg(pl.col("obeyed", "lost").mean(), pl.col("row").n_unique().alias("n"))
        .sort(CELL)
        .collect()
    )
    found: list[Measure] = []
    for row in shares.iter_rows(named=True):
        place = {name: row[name] for name in CELL}
        found.append(_share(kinds.OBEYED, row["obeyed"], row["n"], place))
        found.append(_share(kinds.TRANSLATED, 1 - row["lost"], row["n"], place))
    return found


def _share(kind: Kind, share: float, n: int, place: dict[str, str | float | None]) -> Measure:
    """A share in per cent; its standard deviation is that of Agresti and Coull, which no share of 0 or 1 makes 0."""
    low, high = wilson(share * n, n)
    middle = (share * n + 2) / (n + 4)
    sd = sqrt(middle * (1 - middle) / (n + 4))
    return Measure(kind, 100 * share, n, sd=100 * sd, low=100 * low, high=100 * high, **place)  # type: ignore[arg-type]


def inconsistency(
    translations: pl.LazyFrame,
    told: pl.Expr,
    keys: Keys,
    threshold: float,
    resamples: int,
    seed: int,
    slices: Slices | None = None,
) -> list[Measure]:
    """Sentence-level chrF(Y′, Y) below the threshold (75 in Jwalapuram 2023 §4.1), in per cent of texts.

    The share over all texts, and over those that the perturbation really changed where that is not all of them.

    `told` says which rows count; of `slices`, the share over all texts of each.
    """
    listed = counted(translations, told & pl.col("perturbation").is_not_null(), CELL)
    measures = []
    for place in listed.select(CELL).iter_rows(named=True):
        part = translations.filter(told & same(**place)).select("row", "consistency", "changed").collect()
        some = part.filter(pl.col("changed"))
        count = some["row"].n_unique()
        found: list[tuple[Kind, str | None, pl.DataFrame]] = [(kinds.INCONSISTENT, None, part)]
        if 0 < some.height < part.height:
            found.append((over_changed(kinds.INCONSISTENT), None, some))
        found += [
            (kinds.INCONSISTENT, name, part.filter(pl.col("row").is_in(pl.Series(rows).implode())))
            for name, rows in (slices or {}).items()
        ]
        for kind, group, here in found:
            if here.is_empty():
                continue
            below = 100.0 * (here["consistency"] < threshold).to_numpy()
            units, rows = by_unit(keys[here["row"].to_numpy()], np.stack([below, np.ones_like(below)], axis=1))
            drawn = bootstrap(ratio_of(0, 1), [rows], resamples, seed, units)
            n = here["row"].n_unique()
            told_of = {"scorer": "chrf", "changed": count if group is None else n, "group": group, **place}
            measures.append(measured(kind, drawn, n, **told_of))
    return measures


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
