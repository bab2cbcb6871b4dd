"""Agreement with people when the references are noisy (Vu 2022, Tables 5, 6, 8, 9 and Figures 2 and 4)."""

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from babelquake.data import Dataset
from babelquake.errors import UserError, setting
from babelquake.perturb.suite import Suite
from babelquake.perturb.suite import suite as suite_of
from babelquake.runs.chunks import same
from babelquake.scorers import Scorer
from babelquake.scorers.base import Array
from babelquake.stats.parallel import in_parallel
from babelquake.studies.agreement import Judgements, agreement_cell
from babelquake.studies.cells import Cell, Place
from babelquake.studies.given_variants import brings_variants, refuse_shared_labels
from babelquake.studies.metric.material import GIVEN
from babelquake.studies.metric.options import MetricOptions
from babelquake.studies.plan import Given

STATISTICS = ("darr", "kendall_like", "pearson")


def noise_cells(
    given: Sequence[Judgements],
    rows: int,
    sums: pl.LazyFrame,
    scorers: Sequence[Scorer],
    perturbations: Sequence[tuple[str, float | None]],
    resamples: int,
    seed: int,
    threshold: float,
) -> Iterator[Cell]:
    """A cell per scorer, attack (label, level) and language pair; where it does not apply, the clean score stands."""

    def make(at: tuple[Scorer, pl.DataFrame, str, float | None, Judgements]) -> Cell:
        scorer, table, label, level, some = at
        clean, noisy = (
            _by_row(table.filter(same(perturbation=name, level=degree)), rows)
            for name, degree in ((None, None), (label, level))
        )
        values = scorer.sign * np.where(np.isnan(noisy), clean, noisy)[some.rows]
        place = Place(some.language_pair, scorer.name, label, level)
        return agreement_cell(place, some, values, STATISTICS, resamples=resamples, seed=seed, threshold=threshold)

    for scorer in scorers:
        table = sums.filter(pl.col("scorer") == scorer.name).select("row", "perturbation", "level", "score").collect()
        yield from in_parallel(make, [(scorer, table, *cell, some) for cell in perturbations for some in given])


def suite_for(data: Dataset, options: MetricOptions) -> Suite:
    """The suite that was named; where none was, Jwalapuram's, or every attack whose references come with the data."""
    if options.suite is None and (options.best_of is not None or brings_variants(data, GIVEN[options.side])):
        return Suite("", ())
    named = options.suite or (_attacks(data) if options.attacked else "jwalapuram2023")
    chosen = suite_of(named, options.replicates, options.vocabulary)
    refuse_shared_labels(data, chosen, GIVEN[options.side])
    return chosen


def _attacks(data: Dataset) -> list[str]:
    """Each attack at its levels, and at 0, where references are clean."""
    levels: dict[str, list[float]] = {}
    for name, level in data.attacked:
        levels.setdefault(name, [0.0]).append(level)
    if not levels:
        raise UserError(f"{data.name} has no perturbed references. Leave {setting('attacked')} out to have them made.")
    return [f"{name}[level={'|'.join(f'{level:g}' for level in sorted(some))}]" for name, some in levels.items()]


def attacked_texts(data: Dataset, suite: Suite) -> Given:
    """References that somebody else attacked, for every attack and level of the suite; level 0 is the clean one."""
    found: dict[tuple[str, float | None], Sequence[str]] = {}
    for perturbation in suite.perturbations:
        if perturbation.level == 0:
            continue
        texts = None if perturbation.level is None else data.attacked.get((perturbation.name, perturbation.level))
        if texts is None:
            known = ", ".join(f"{name}[level={level:g}]" for name, level in data.attacked) or "none"
            raise UserError(f"{data.name} has no references under {perturbation.spec}; it has: {known}.")
        found[perturbation.cell] = texts()
    return found


def _by_row(table: pl.DataFrame, rows: int) -> Array:
    values = np.full(rows, np.nan)
    values[table["row"].to_numpy()] = table["score"].to_numpy()
    return values
