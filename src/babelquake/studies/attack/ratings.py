"""What people say of the perturbations: Figures 2 and 5 of Huang 2023.

Ratings are means over annotators of standardised scores, one for the original and one for the perturbed side of every
rated tuple, from `babelquake annotate` or a table with the columns `tuple`, `side` and `z`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from babelquake.data.delimited import tsv_table
from babelquake.data.request import Request
from babelquake.errors import UserError
from babelquake.runs.measures import ALPHA, Measure
from babelquake.stats.agreement_bootstrap import bootstrap_agreement
from babelquake.stats.ranks import rank_sum
from babelquake.studies.attack import kinds
from babelquake.studies.attack.cells import cells

SIDES = ("original", "perturbed")
RESAMPLES = 10_000
FEWEST = 3
"""Tuples below which a correlation means nothing."""


def rated(attacks: pl.DataFrame, ratings: pl.DataFrame, where: str) -> pl.DataFrame:
    """The rated eligible perturbations, with humans' and the metric's degradation, and the gap between them.

    Degradation is original less perturbed: humans' in standardised ratings, the metric's in f̂.
    """
    if missing := [name for name in ("tuple", "side", "z") if name not in ratings.columns]:
        raise UserError(f"{where} has no column '{missing[0]}': ratings are a table of tuple, side and z.")
    if strange := set(ratings["side"].unique()) - set(SIDES):
        raise UserError(f"{where}: side is '{sorted(map(str, strange))[0]}' where original or perturbed is expected.")
    means = ratings.group_by("tuple", "side").agg(pl.col("z").cast(pl.Float64).mean())
    wide = means.pivot("side", index="tuple", values="z").drop_nulls()
    if not set(SIDES) <= set(wide.columns):
        raise UserError(f"{where} rates one side only: every tuple needs a rating of original and of perturbed.")
    wide = wide.rename({"original": "human", "perturbed": "human_perturbed"})
    joined = attacks.filter("success").join(wide, on="tuple", how="inner", maintain_order="left")
    if joined.is_empty():
        raise UserError(f"{where} rates none of this run's perturbations: the names in its column 'tuple' are others.")
    return joined.with_columns(
        human_drop=pl.col("human") - pl.col("human_perturbed"), metric_drop=pl.col("score") - pl.col("score_perturbed")
    ).with_columns(gap=pl.col("metric_drop") - pl.col("human_drop"))


def human_measures(table: pl.DataFrame, by: str | None, seed: int, resamples: int = RESAMPLES) -> Iterator[Measure]:
    """Per victim × recipe × value of `by`: correlations before and after, degradations, one-sided test, spread.

    Figure 2: Pearson with standard errors from 10,000 resamples of tuples. Figure 5: is the metric's degradation larger
    than humans' (one-sided rank-sum)? At the end, how many cells of how many are significant.
    """
    tests: list[float] = []
    for victim, recipe, group, cell in cells(table, by):
        about: dict[str, Any] = {"scorer": victim, "perturbation": recipe, "group": group, "n": cell.height}
        columns = {name: cell[name].to_numpy() for name in cell.columns if cell[name].dtype.is_float()}
        for kind, human, metric in (
            (kinds.PEARSON_ORIGINAL, "human", "score"),
            (kinds.PEARSON_PERTURBED, "human_perturbed", "score_perturbed"),
        ):
            if cell.height >= FEWEST:
                drawn = bootstrap_agreement(
                    "pearson", columns[human], columns[metric], "none", resamples=resamples, seed=seed
                )
                yield Measure(kind, drawn.value, sd=drawn.estimate().sd, **about)
        own, theirs = columns["metric_drop"], columns["human_drop"]
        yield Measure(kinds.DEGRADATION, float(np.median(own)), sd=_sd(own), **about)
        yield Measure(kinds.DEGRADATION_HUMAN, float(np.median(theirs)), sd=_sd(theirs), **about)
        test = rank_sum(own, theirs, "greater")
        tests.append(test.p)
        difference = float(np.median(own) - np.median(theirs))
        yield Measure(kinds.OVERPENALISED, difference, p=test.p, family=("human",), **about)
        if (spread := _sd(theirs)) and len(own) > 1:
            yield Measure(kinds.SPREAD, float(np.std(own, ddof=1)) / spread, **about)
    significant = sum(p < ALPHA for p in tests)
    yield Measure(kinds.CELLS, float(significant), n=len(tests), changed=significant)


def read_ratings(path: str | Path) -> pl.DataFrame:
    """Ratings from a table with a header: columns `tuple`, `side`, `z`; TSV, or Parquet by its ending."""
    if str(path).endswith(".parquet"):
        return pl.read_parquet(path)
    table = tsv_table(Request(str(path)), header=True)
    return pl.DataFrame({name: list(values) for name, values in table.columns.items()}).with_columns(
        pl.col("^z$").cast(pl.Float64, strict=False)
    )


def _sd(values: NDArray[np.float64]) -> float | None:
    return float(np.std(values, ddof=1)) if len(values) > 1 else None
