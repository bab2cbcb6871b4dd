"""Failures of clean and perturbed translations: how often, and whether perturbations make them more frequent.

For each language pair and system the share of clean translations with each kind of failure (`failures`), the share
under each perturbation (`failures` of that perturbation), and the difference on the same segments with a paired test
(`failures_delta`), all kinds, systems and perturbations of a language pair in one family. `hallucination` is Lee et
al.'s (2018): translations that were fine for the clean source and loop, are detached or in another language for the
perturbed.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
import polars as pl

from babelquake.languages import sides
from babelquake.runs.measures import Measure
from babelquake.scorers.base import Array
from babelquake.stats.bootstrap import Resampled, resampled_sums
from babelquake.stats.intervals import rate_sd
from babelquake.stats.resampling import Keys
from babelquake.stats.testing import exchange_test
from babelquake.stats.units import by_unit
from babelquake.studies.detection import cards_with, kinds_of_exchange
from babelquake.studies.kinds import FAILURES
from babelquake.studies.mt import kinds
from babelquake.studies.options import FailureEncoder
from babelquake.studies.tests_to_measures import Families, enough, measured, share

ANY = "any"
INVENTED = ("detached", "loop", "off-target", "source-language")
"""What makes a translation a hallucination where its clean counterpart has none of it."""
CELL = ["perturbation", "level"]


def failure_measures(
    translations: pl.LazyFrame,
    failures: pl.LazyFrame,
    told: pl.Expr,
    keys: Keys,
    resamples: int,
    seed: int,
    encoder: FailureEncoder = "none",
) -> list[Measure]:
    """Rates clean and perturbed, differences and hallucinations; `told` says which rows count."""
    lines = pl.col("exchange").struct.field("lines").list.len()
    made = (
        translations.filter(told)
        .select("language_pair", "system", "row", *CELL, "replicate", lines=lines)
        .with_columns(lines=pl.col("lines").max().over("language_pair", "system"))
        .collect()
    )
    found = failures.filter(told).select("language_pair", "system", "row", *CELL, "replicate", "kind").collect()
    measures: list[Measure] = []
    families = Families()
    for (pair, system), here in made.group_by(["language_pair", "system"], maintain_order=True):
        same = (pl.col("language_pair").eq_missing(pair), pl.col("system") == system)
        flags = found.filter(*same)
        place = {"language_pair": pair, "system": system}
        occurring = sorted(flags["kind"].unique().to_list())
        clean = _flagged(here.filter(pl.col("perturbation").is_null()), flags, occurring)
        parts = here["lines"][0]
        cards = cards_with(encoder, *sides(pair)) + ([] if parts is None else kinds_of_exchange(parts > 0))
        measures += _clean(clean, [card.kind for card in cards], occurring, place)
        for (perturbation, level), part in here.drop_nulls("perturbation").group_by(CELL, maintain_order=True):
            cell = {**place, "perturbation": perturbation, "level": level}
            noisy = _flagged(part, flags, occurring)
            measures += _perturbed(clean, noisy, occurring, cell, keys, enough(resamples), seed, families)
    return [*measures, *families.judge()]


def _flagged(made: pl.DataFrame, flags: pl.DataFrame, kinds_: list[str]) -> pl.DataFrame:
    """One row per translation: its row, and for each kind whether it has it, `any` first."""
    on = ["row", *CELL, "replicate"]
    told = made.select(on)
    for kind in [ANY, *kinds_]:
        some = flags if kind == ANY else flags.filter(pl.col("kind") == kind)
        marked = some.select(on).unique().with_columns(pl.lit(1.0).alias(kind))
        told = told.join(marked, on=on, how="left", nulls_equal=True, maintain_order="left")
    if invented := [kind for kind in kinds_ if kind in INVENTED]:
        told = told.with_columns(invented=pl.max_horizontal(invented))
    else:
        told = told.with_columns(invented=pl.lit(None, pl.Float64))
    return told.with_columns(pl.col(ANY, "invented", *kinds_).fill_null(0.0))


def _clean(clean: pl.DataFrame, served: list[str], occurring: list[str], place: dict[str, str | None]) -> list[Measure]:
    """The rate of every kind that was looked for, those that do not occur included: a gate asks for these too."""
    n = clean.height
    measures = []
    for kind in [ANY, *served, *(kind for kind in occurring if kind not in served)]:
        count = int(clean[kind].sum()) if kind == ANY or kind in occurring else 0
        measures.append(share(FAILURES, count, n, sd=100 * rate_sd(count, n), scorer=kind, **place))
    return measures


def _perturbed(
    clean: pl.DataFrame,
    noisy: pl.DataFrame,
    occurring: list[str],
    place: dict[str, str | float | None],
    keys: Keys,
    resamples: int,
    seed: int,
    families: Families,
) -> Iterator[Measure]:
    """The rates of one perturbation, and their differences from those of the same segments' clean translations."""
    names = [ANY, "invented", *occurring]
    before = noisy.select("row").join(
        clean.select("row", *names).unique("row", maintain_order=True), on="row", how="left", maintain_order="left"
    )
    units = keys[noisy["row"].to_numpy()]
    first = np.column_stack([before.select(names).fill_null(0.0).to_numpy(), np.ones(noisy.height)])
    second = np.column_stack([noisy.select(names).to_numpy(), np.ones(noisy.height)])
    fresh = (second[:, 1] > first[:, 1]).astype(np.float64)
    together = np.column_stack([100 * first[:, :-1], 100 * second[:, :-1], 100 * fresh, first[:, -1]])
    ordered, rows = by_unit(units, together)
    drawn, whole = resampled_sums(rows, resamples, seed, ordered), rows.sum(axis=0)
    n, count = noisy["row"].n_unique(), len(names)
    family = (str(place["language_pair"]), "failures", "more failures under perturbation")
    for number, kind in enumerate(names):
        if kind == "invented":
            continue
        was, now = (_resampled(whole, drawn, column) for column in (number, count + number))
        yield measured(FAILURES, now, n, scorer=kind, **place)
        if not was.value and not now.value:
            continue
        delta = now - was
        sides_ = [rows[:, [column, -1]] for column in (count + number, number)]
        test = exchange_test(partial(_share, column=0), [sides_[0]], [sides_[1]], delta, seed=seed, keys=ordered)
        families.add(family, measured(kinds.FAILURES_DELTA, delta, n, scorer=kind, **place), test)
    invented = _resampled(whole, drawn, 2 * count)
    yield measured(kinds.HALLUCINATION, invented, n, **place)


def _share(sums: Array, column: int) -> Array:
    """A column's sum over that of the last, the number of translations."""
    return np.asarray(sums[..., column] / sums[..., -1])


def _resampled(whole: Array, drawn: Array, column: int) -> Resampled:
    return Resampled(float(_share(whole, column)), _share(drawn, column))
