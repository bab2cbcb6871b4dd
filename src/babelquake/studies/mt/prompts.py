"""What matters more, the wording of the prompt or the source? Two sources of variance of segment scores, side by side.

Every source is translated with every prompt: a table of scores without gaps, whose variance has three parts.
"""

import numpy as np
import polars as pl

from babelquake.runs.measures import Measure
from babelquake.scorers.base import Array
from babelquake.stats.variance_components import components
from babelquake.studies.inquiries import REPEAT
from babelquake.studies.mt import kinds

PLACE = ["language_pair", "system", "scorer"]
PROMPT = ["perturbation", "level", "replicate"]


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
