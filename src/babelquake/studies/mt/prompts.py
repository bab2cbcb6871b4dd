"""What matters more, the wording of the prompt or the source? Two sources of variance of segment scores, side by side.

Every source is translated with every prompt: a table of scores y[source, prompt] without gaps. In the random model
y = µ + source + prompt + rest the mean squares estimate the variances (Searle, Casella & McCulloch 1992 §4.3):
σ²(prompt) = (MS prompts − MS rest) / sources, σ²(source) = (MS sources − MS rest) / prompts. Intervals come from the χ²
distribution of the mean squares: that over prompts is wide where few prompts were tried.
"""

from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.stats import chi2

from babelquake.runs.measures import Measure
from babelquake.scorers.base import Array
from babelquake.studies.inquiries import REPEAT
from babelquake.studies.mt import kinds

PLACE = ["language_pair", "system", "scorer"]
PROMPT = ["perturbation", "level", "replicate"]
LEVEL = 0.95


class Component(NamedTuple):
    """A standard deviation and its interval."""

    value: float
    low: float
    high: float


def prompt_variance(scores: pl.LazyFrame) -> list[Measure]:
    """Standard deviations over prompts, over sources and of the rest, per system and scorer."""
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


def components(table: Array) -> tuple[Component, Component, Component]:
    """Standard deviations of the columns' effects, of the rows' effects and of the rest, with 95 % intervals."""
    rows, columns = table.shape
    mean, of_rows, of_columns = table.mean(), table.mean(axis=1), table.mean(axis=0)
    rest = table - of_rows[:, None] - of_columns[None, :] + mean
    freedom = (rows - 1) * (columns - 1)
    noise = float((rest**2).sum() / freedom)
    by_column = float(rows * ((of_columns - mean) ** 2).sum() / (columns - 1))
    by_row = float(columns * ((of_rows - mean) ** 2).sum() / (rows - 1))
    return (
        _component(by_column, columns - 1, noise, rows),
        _component(by_row, rows - 1, noise, columns),
        _component(noise, freedom, 0.0, 1),
    )


def _component(square: float, freedom: int, noise: float, times: int) -> Component:
    ends = [square * freedom / float(chi2.ppf(p, freedom)) for p in ((1 + LEVEL) / 2, (1 - LEVEL) / 2)]
    value, low, high = (float(np.sqrt(max(0.0, one - noise) / times)) for one in (square, *ends))
    return Component(value, low, high)
