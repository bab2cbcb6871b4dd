"""What people say of the perturbations: Figures 2 and 5 of Huang 2023.

Ratings are means over annotators of standardised scores, one for the original and one for the perturbed side of every
rated tuple, from `babelquake annotate` or a table with the columns `tuple`, `side` and `z`.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from babelquake.attacks.goal import Goal
from babelquake.data.delimited import csv_table, tsv_table
from babelquake.data.parquet import parquet_frame
from babelquake.data.request import Request
from babelquake.errors import UserError
from babelquake.registry import Registry
from babelquake.runs.measures import ALPHA, Measure
from babelquake.stats.agreement_bootstrap import bootstrap_agreement
from babelquake.stats.ranks import can_separate, rank_sum, spread_difference
from babelquake.studies.attack.measures import cells
from babelquake.studies.kinds import attack as kinds

SIDES = ("original", "perturbed")
RESAMPLES = 10_000
NOTE = "Human ratings:"
RATED = "rated"
"""The table of what people were asked about."""
SQLITE = b"SQLite format 3\0"
"""How a project of `annotate` begins."""
TOOLS: Registry[Callable[[str | Path], pl.DataFrame]] = Registry(
    "rating tool", "babelquake.ratings", {"annotate": "babelquake.annotate.analyse:tuple_ratings"}
)
"""Whose project files of ratings are understood: functions from such a file to a table."""
FEWEST = 3
"""Tuples below which a correlation means nothing."""


def ratings_table(given: str | Path | pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """The ratings that were meant and what errors call them, looked at before anything is attacked."""
    table = given if isinstance(given, pl.DataFrame) else _read(given)
    where = "the table of ratings" if isinstance(given, pl.DataFrame) else str(given)
    if missing := [name for name in ("tuple", "side", "z") if name not in table.columns]:
        raise UserError(f"{where} has no column '{missing[0]}': ratings are a table of tuple, side and z.")
    if strange := set(table["side"].unique()) - set(SIDES):
        raise UserError(f"{where}: side is '{sorted(map(str, strange))[0]}' where original or perturbed is expected.")
    return table, where


def _read(given: str | Path) -> pl.DataFrame:
    """A table of ratings, or what the rating tool's project file says of the tuples."""
    return TOOLS.get("annotate")(given) if _is_project(Path(given)) else read_ratings(given)


def rated(attacks: pl.DataFrame, ratings: pl.DataFrame, where: str, goal: Goal) -> pl.DataFrame:
    """The rated eligible perturbations, with humans' and the metric's degradation, and the gap between them.

    Degradation is original less perturbed: humans' in standardised ratings, the metric's in f̂. Where the goal is that
    scores rise, it is the rise.
    """
    means = _numbered(ratings, where).drop_nulls("z").group_by("tuple", "side").agg(pl.col("z").mean())
    wide = means.pivot("side", on_columns=SIDES, index="tuple", values="z").drop_nulls()
    if wide.is_empty():
        raise UserError(f"{where} rates one side only: every tuple needs a rating of original and of perturbed.")
    wide = wide.rename({"original": "human", "perturbed": "human_perturbed"})
    joined = attacks.filter("success").join(wide, on="tuple", how="inner", maintain_order="left")
    if joined.is_empty():
        raise UserError(f"{where} rates none of this run's perturbations: the names in its column 'tuple' are others.")
    return joined.with_columns(
        human_drop=pl.Series(map(goal.gain, joined["human"], joined["human_perturbed"]), dtype=pl.Float64),
        metric_drop=pl.Series(map(goal.gain, joined["score"], joined["score_perturbed"]), dtype=pl.Float64),
    ).with_columns(gap=pl.col("metric_drop") - pl.col("human_drop"))


def _numbered(ratings: pl.DataFrame, where: str) -> pl.DataFrame:
    """Ratings as numbers, null where the cell is empty; what is neither is named."""
    said = pl.col("z").cast(pl.String).str.strip_chars().replace("", None)
    table = ratings.with_columns(said=said, z=said.cast(pl.Float64, strict=False))
    wrong = table.filter(pl.col("said").is_not_null() & ~pl.col("z").is_finite().fill_null(False))
    if wrong.height:
        first = wrong.row(0, named=True)
        more = f" (and {wrong.height - 1} more)" if wrong.height > 1 else ""
        raise UserError(f"{where}: z of {first['tuple']}, {first['side']}, is '{first['said']}', not a number{more}.")
    return table


def coverage(attacks: pl.DataFrame, ratings: pl.DataFrame, compared: pl.DataFrame) -> str:
    """How many of the perturbations people rated, and what ratings there are besides."""
    found = attacks.filter("success")["tuple"]
    names = ratings["tuple"].unique()
    strange = len(names) - int(names.is_in(found.to_list()).sum())
    half = len(names) - strange - compared["tuple"].n_unique()
    said = f"{NOTE} {compared.height} of {len(found)} eligible perturbations are rated on both sides"
    besides = ((half, "rated on one side only"), (strange, "that this run did not find"))
    left_out = ", ".join(f"{count} {what}" for count, what in besides if count)
    return f"{said}; left out: {left_out}." if left_out else f"{said}."


def drops(compared: pl.DataFrame, by: str | None) -> pl.DataFrame:
    """Ratings and degradations tuple by tuple, with the cell that each belongs to: the distributions of Figure 5."""
    columns = ("tuple", "victim", "recipe", "human", "human_perturbed", "human_drop", "metric_drop")
    return pl.concat(cell.select(*columns, group=pl.lit(group, pl.String)) for _, _, group, cell in cells(compared, by))


def human_measures(table: pl.DataFrame, by: str | None, seed: int, resamples: int = RESAMPLES) -> Iterator[Measure]:
    """Per victim × recipe × value of `by`: correlations before and after, degradations, one-sided test, spread.

    Figure 2: Pearson with standard errors from 10,000 resamples of tuples. Figure 5: is the metric's degradation
    larger than humans' (one-sided rank-sum), and is it spread wider or less wide (Brown & Forsythe)? At the end,
    how many cells are significant of those that are large enough to be.
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
        test, testable = rank_sum(own, theirs, "greater"), can_separate(len(own), len(theirs))
        if testable:
            tests.append(test.p)
        difference = float(np.median(own) - np.median(theirs))
        yield Measure(kinds.OVERPENALISED, difference, p=test.p, testable=testable, family=("human",), **about)
        if (spread := _sd(theirs)) and len(own) > 1:
            ratio, wider = float(np.std(own, ddof=1)) / spread, spread_difference(own, theirs)
            yield Measure(kinds.SPREAD, ratio, p=wider, testable=testable, family=("human", "spread"), **about)
    significant = sum(p < ALPHA for p in tests)
    yield Measure(kinds.CELLS_OVERPENALISED, float(significant) if tests else None, n=len(tests), changed=significant)


def read_ratings(path: str | Path) -> pl.DataFrame:
    """Ratings from a table with a header: columns `tuple`, `side`, `z`; TSV, or CSV or Parquet by its ending."""
    request = Request(str(path))
    if request.what.endswith(".parquet"):
        return parquet_frame(request)
    csv = bool(re.search(r"\.csv(\.(gz|xz|bz2))?$", request.what))
    table = csv_table(request, header=True) if csv else tsv_table(request, header=True)
    return pl.DataFrame({name: list(values) for name, values in table.columns.items()})


def _is_project(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE


def _sd(values: NDArray[np.float64]) -> float | None:
    return float(np.std(values, ddof=1)) if len(values) > 1 else None
