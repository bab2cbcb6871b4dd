"""All results of the MT study: cells, tests, inconsistency, differences between systems, ranks, kinds of change."""

from typing import Any

import polars as pl

from babelquake.engine import Progress
from babelquake.scorers import Scorer
from babelquake.stats.corrections import holm
from babelquake.studies.mt import robustness


def mt_results(
    scores: pl.DataFrame,
    translations: pl.DataFrame,
    judges: list[Scorer],
    threshold: float,
    resamples: int,
    seed: int,
    quiet: bool = True,
) -> list[dict[str, Any]]:
    """All results of the study as tidy rows."""
    found = list(robustness.cells(scores, judges, resamples, seed))
    rows = []
    with Progress("resampling", len(found), "cells", quiet) as progress:
        for cell in found:
            rows += robustness.cell_results(cell)
            progress.advance(1)
    _correct([row for row in rows if row["measure"] == "delta"])
    corrected = {_cell_key(row): row["p_corrected"] for row in rows if row["measure"] == "delta"}
    for row in rows:
        if row["measure"] == "robust":
            row["p_corrected"] = corrected[_cell_key(row)]
    rows += robustness.inconsistency(translations, threshold, resamples, seed)
    differences = robustness.system_differences(found)
    _correct(differences)
    rows += differences + robustness.ranks(found) + robustness.robust_consis_correlation(found)
    rows += _changes(translations)
    return rows


def _correct(rows: list[dict[str, Any]]) -> None:
    """Holm's correction over one family of tests."""
    for row, p in zip(rows, holm(row["p"] for row in rows), strict=True):
        row["p_corrected"] = float(p)


def _cell_key(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in robustness.KEYS)


def _changes(translations: pl.DataFrame) -> list[dict[str, Any]]:
    """Per system and perturbation: the share of each kind of change, in per cent."""
    groups = ["language_pair", "system", "perturbation", "level"]
    noisy = translations.filter(pl.col("perturbation").is_not_null())
    counts = noisy.group_by([*groups, "change"], maintain_order=True).len()
    totals = noisy.group_by(groups, maintain_order=True).agg(pl.len().alias("n"))
    joined = counts.join(totals, on=groups, how="left", nulls_equal=True, maintain_order="left")
    return [
        {**{name: row[name] for name in groups}, "measure": f"changed_{row['change']}",
         "value": 100 * row["len"] / row["n"], "n": row["n"]}
        for row in joined.iter_rows(named=True)
    ]  # fmt: skip
