"""Agreement with people when the references are noisy (Vu 2022, Tables 5, 6, 8, 9 and Figures 2 and 4)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from babelquake.data import Dataset
from babelquake.errors import UserError
from babelquake.perturb.suite import Suite
from babelquake.scorers import Scorer
from babelquake.scorers.base import Array
from babelquake.stats.bootstrap import Resampled
from babelquake.studies.correlate.agreements import agreements, parts_by_pair, with_averages
from babelquake.studies.probing import Given

STATISTICS = ("darr", "kendall_like", "pearson")


def noise_agreement(
    data: Dataset,
    sums: pl.LazyFrame,
    judges: Sequence[Scorer],
    changes: Suite,
    resamples: int,
    seed: int,
    threshold: float,
) -> list[dict[str, Any]]:
    """Agreement with humans per scorer, attack and level; level 0 is the clean reference."""
    found: dict[tuple[Any, ...], dict[str, tuple[Resampled, int]]] = {}
    parts = parts_by_pair(data.segments, data.pairs)
    for judge in judges:
        sign = 1 if judge.higher_is_better else -1
        table = sums.filter(pl.col("scorer") == judge.name).select("row", "perturbation", "level", "score").collect()
        clean = _by_row(table.filter(pl.col("perturbation").is_null()), len(data))
        for change in changes.perturbations:
            same = (pl.col("perturbation") == change.label) & pl.col("level").eq_missing(change.level)
            noisy = _by_row(table.filter(same), len(data))
            values = np.where(np.isnan(noisy), clean, noisy)
            for pair, segments, pairs, rows in parts:
                found[(pair, judge.name, change.label, change.level)] = agreements(
                    segments, pairs, sign * values[rows], STATISTICS,
                    resamples=resamples, seed=seed, threshold=threshold,
                )  # fmt: skip
    return with_averages(found, ("language_pair", "scorer", "perturbation", "level"))


def attacked_texts(data: Dataset, changes: Suite) -> Given:
    """References that somebody else attacked, for every attack and level of the suite; level 0 is the clean one."""
    found: dict[tuple[str, float | None], Sequence[str]] = {}
    for change in changes.perturbations:
        if not change.level:
            continue
        texts = data.attacked.get((change.name, change.level))
        if texts is None:
            known = ", ".join(f"{name}[level={level:g}]" for name, level in data.attacked) or "none"
            raise UserError(f"{data.name} brings no references under {change.spec}; it brings: {known}.")
        found[change.label, change.level] = texts()
    return found


def _by_row(table: pl.DataFrame, rows: int) -> Array:
    values = np.full(rows, np.nan)
    values[table["row"].to_numpy()] = table["score"].to_numpy()
    return values
