"""How much a metric's score changes when the text does (Jwalapuram 2023 §3.1, Tables 2–4)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from babelquake.scorers import Scorer
from babelquake.stats.bootstrap import Resampled, resampled_sums
from babelquake.stats.corrections import holm
from babelquake.studies.mt.robustness import p_value, result
from babelquake.studies.tables import rows_of

Row = dict[str, Any]


def sensitivity(
    sums: pl.LazyFrame, judges: Sequence[Scorer], meanings: Mapping[str, str], resamples: int, seed: int
) -> list[Row]:
    """f of clean texts, f of perturbed ones, Δ with a paired bootstrap, as Tables 2 and 3."""
    rows: list[Row] = []
    for judge in judges:
        table = sums.filter(pl.col("scorer") == judge.name).collect()
        for (pair,), part in table.group_by("language_pair", maintain_order=True):
            clean = part.filter(pl.col("perturbation").is_null()).select("row", "statistics", "score")
            noisy = part.filter(pl.col("perturbation").is_not_null())
            key = {"language_pair": pair, "scorer": judge.name}
            drops: dict[tuple[str, float | None], dict[int, float]] = {}
            for (change, level), some in noisy.group_by(["perturbation", "level"], maintain_order=True):
                joined = some.join(clean, on="row", suffix="_clean")
                rows += _changes(joined, judge, {**key, "perturbation": change, "level": level}, resamples, seed)
                sign = 1 if judge.higher_is_better else -1
                lost = sign * (joined["score_clean"] - joined["score"])
                drops[change, level] = dict(zip(joined["row"], lost, strict=True))
            rows += _harmless_costs_more(drops, meanings, key)
    tested = [row for row in rows if row["measure"] == "delta"]
    for row, p in zip(tested, holm(row["p"] for row in tested), strict=True):
        row["p_corrected"] = float(p)
    return rows


def _changes(joined: pl.DataFrame, judge: Scorer, key: Row, resamples: int, seed: int) -> list[Row]:
    """Score of the clean texts, of the perturbed ones, and their difference, over the same segments."""
    before, after = rows_of(joined["statistics_clean"]), rows_of(joined["statistics"])
    both = np.concatenate([before, after], axis=1)
    width = before.shape[1]
    observed, drawn = both.sum(axis=0), resampled_sums(both, resamples, seed)
    clean = Resampled(float(judge.aggregate(observed[:width])), judge.aggregate(drawn[:, :width]))
    noisy = Resampled(float(judge.aggregate(observed[width:])), judge.aggregate(drawn[:, width:]))
    delta, n = noisy - clean, joined.height
    return [
        result(key, "score", clean, n),
        result(key, "score_perturbed", noisy, n),
        result(key, "delta", delta, n, p_value(delta, n)),
    ]


def _harmless_costs_more(
    drops: Mapping[tuple[str, float | None], Mapping[int, float]], meanings: Mapping[str, str], key: Row
) -> list[Row]:
    """Per harmless change: how often it costs a segment more than a harmful one (the point of Table 4, counted)."""
    rows = []
    harmful = [lost for (change, _), lost in drops.items() if meanings[change] == "altering"]
    for (change, level), lost in drops.items():
        if meanings[change] != "preserving":
            continue
        shared = [(lost[row], other[row]) for other in harmful for row in lost.keys() & other.keys()]
        if shared:
            share = 100 * sum(mine > theirs for mine, theirs in shared) / len(shared)
            rows.append({**key, "perturbation": change, "level": level, "measure": "harmless_costs_more",
                         "value": share, "n": len(shared)})  # fmt: skip
    return rows
