"""Agreement of scores with human judgements, for one data set and any list of scores, one per row."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from babelquake.scorers.base import Array
from babelquake.stats.agreement_errors import bootstrap_agreement, bootstrap_darr
from babelquake.stats.bootstrap import Resampled
from babelquake.stats.groups import By
from babelquake.studies.mt.robustness import result

Row = dict[str, Any]
AVERAGE = "average"


def score_tables(segments: pl.DataFrame, values: Array) -> tuple[Array, Array]:
    """Human and metric scores as tables of systems × items, NaN where there is none."""
    systems = {name: place for place, name in enumerate(segments["system"].fill_null("").unique(maintain_order=True))}
    items = {name: place for place, name in enumerate(segments["id"].unique(maintain_order=True))}
    rows = [systems[name] for name in segments["system"].fill_null("")]
    columns = [items[name] for name in segments["id"]]
    human, metric = (np.full((len(systems), len(items)), np.nan) for _ in range(2))
    human[rows, columns] = segments["score"].cast(pl.Float64).to_numpy()
    metric[rows, columns] = values
    return human, metric


def agreements(
    segments: pl.DataFrame,
    pairs: pl.DataFrame | None,
    values: Array,
    statistics: Sequence[str],
    *,
    resamples: int,
    seed: int,
    threshold: float = 25.0,
    by: By | None = None,
) -> dict[str, tuple[Resampled, int]]:
    """Each statistic that the data allow, with its bootstrap and the number of judgements behind it.

    `segments` and `pairs` are those of one language pair; `values` has one score per row of `segments`, higher is
    better. DARR needs better/worse pairs; comparisons within a segment need several systems. `by` groups scores by
    item or by system before correlating and averages over the groups; each statistic has its own default.
    """
    found: dict[str, tuple[Resampled, int]] = {}
    if pairs is not None and "darr" in statistics and pairs.height:
        better, worse = pairs["better"].to_numpy(), pairs["worse"].to_numpy()
        items = segments["id"].to_numpy()[better]
        drawn = bootstrap_darr(values[better], values[worse], items, resamples=resamples, seed=seed)
        found["darr"] = (drawn, pairs.height)
    if segments["score"].null_count() == segments.height:
        return found
    human, metric = score_tables(segments, values)
    judged = int((~np.isnan(human + metric)).sum())
    for name in statistics:
        within_items = by == "item" or (by is None and name in ("kendall_like", "accuracy"))
        if name == "darr" or (within_items and len(human) < 2):
            continue
        drawn = bootstrap_agreement(name, human, metric, by, resamples=resamples, seed=seed, threshold=threshold)
        if np.isfinite(drawn.value):
            found[name] = (drawn, judged)
    return found


def averaged(found: Sequence[Resampled]) -> Resampled:
    """The mean over language pairs; their resamples are independent."""
    return Resampled(
        float(np.mean([drawn.value for drawn in found])), np.mean([drawn.values for drawn in found], axis=0)
    )


def with_averages(by_pair: dict[tuple[Any, ...], dict[str, tuple[Resampled, int]]], keys: Sequence[str]) -> list[Row]:
    """Rows of measures for every language pair, and their average where there are several.

    The keys of `by_pair` are tuples of the columns `keys`, the language pair first.
    """
    rows = []
    groups: dict[tuple[Any, ...], list[dict[str, tuple[Resampled, int]]]] = {}
    for key, found in by_pair.items():
        groups.setdefault(key[1:], []).append(found)
        rows += [result(dict(zip(keys, key, strict=True)), name, drawn, n) for name, (drawn, n) in found.items()]
    for rest, several in groups.items():
        shared = [name for name in several[0] if len(several) > 1 and all(name in found for found in several)]
        for name in shared:
            drawn = averaged([found[name][0] for found in several])
            named = dict(zip(keys, (AVERAGE, *rest), strict=True))
            rows.append(result(named, name, drawn, sum(found[name][1] for found in several)))
    return rows


def parts_by_pair(
    segments: pl.DataFrame, pairs: pl.DataFrame | None
) -> list[tuple[str | None, pl.DataFrame, pl.DataFrame | None, Array]]:
    """Per language pair: its segments, its pairs renumbered to them, and its row numbers in the whole table."""
    numbered = segments if "row" in segments.columns else segments.with_row_index("row")
    parts = []
    for (pair,), part in numbered.group_by("language_pair", maintain_order=True):
        rows = part["row"].to_numpy()
        mine = None
        if pairs is not None:
            place = {int(row): position for position, row in enumerate(rows)}
            kept = pairs.filter(pl.col("better").is_in(part["row"].implode()))
            mine = pl.DataFrame({name: [place[row] for row in kept[name]] for name in ("better", "worse")})
        parts.append((pair, part, mine, rows))
    return parts
