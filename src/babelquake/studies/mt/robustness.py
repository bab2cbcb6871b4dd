"""The measures of the MT study: TQ, ΔTQ, ROBUST, CONSIS, % inconsistent, ranks and differences between systems.

Niu 2020 §2: ROBUST(M|x,y,δ) = TQ(y′δ, y) / TQ(y′, y), CONSIS(M|x,δ) = harmonic mean of TQ(y′δ, y′) and TQ(y′, y′δ).
Jwalapuram 2023 §4.1: a translation is inconsistent when the sentence-level chrF(Y′, Y) is below 75. All in per cent.
Every number is bootstrapped over segments; one seed gives all cells the same resamples, so differences are paired.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from babelquake.scorers.base import Array, Scorer
from babelquake.stats import pvalues
from babelquake.stats.bootstrap import Resampled, resampled_sums
from babelquake.studies.tables import summed_by_row

Row = dict[str, Any]
KEYS = ["language_pair", "system", "scorer", "perturbation", "level"]


@dataclass(frozen=True)
class Cell:
    """One system under one perturbation, judged by one scorer: its statistics, one row per segment."""

    language_pair: str | None
    system: str
    scorer: Scorer
    perturbation: str
    level: float | None
    rows: Array
    """Which rows of the segments these are: those the perturbation applies to."""
    clean: Array | None
    perturbed: Array | None
    forward: Array | None
    backward: Array | None
    resamples: int
    seed: int

    @property
    def key(self) -> Row:
        """The columns of measures that name this cell."""
        values = (self.language_pair, self.system, self.scorer.name, self.perturbation, self.level)
        return dict(zip(KEYS, values, strict=True))

    @cached_property
    def _sums(self) -> tuple[list[Array], list[Array]]:
        """Sums over all segments, and over each resample, of every kind of statistics."""
        tables = [table for table in (self.clean, self.perturbed, self.forward, self.backward) if table is not None]
        together = np.concatenate(tables, axis=1)
        cuts = np.cumsum([table.shape[1] for table in tables])[:-1]
        drawn = resampled_sums(together, self.resamples, self.seed)
        return np.split(together.sum(axis=0), cuts), np.split(drawn, cuts, axis=-1)

    def _resampled(self, function: Callable[..., Array], *places: int) -> Resampled:
        observed, drawn = self._sums
        with np.errstate(divide="ignore", invalid="ignore"):
            value = function(*(quality(self.scorer, observed[place]) for place in places))
            values = function(*(quality(self.scorer, drawn[place]) for place in places))
        return Resampled(float(value), np.asarray(values))

    @cached_property
    def measures(self) -> dict[str, Resampled]:
        """Every measure this cell allows: ROBUST where there are references, CONSIS where the scorer compares texts."""
        found: dict[str, Resampled] = {}
        if self.clean is not None:
            found["quality"] = self._resampled(lambda clean: clean, 0)
            found["quality_perturbed"] = self._resampled(lambda perturbed: perturbed, 1)
            found["delta"] = self._resampled(lambda clean, perturbed: perturbed - clean, 0, 1)
            found["robust"] = self._resampled(lambda clean, perturbed: 100 * perturbed / clean, 0, 1)
        if self.forward is not None:
            found["consis"] = self._resampled(harmonic_mean, -2, -1)
        return found


def quality(scorer: Scorer, sums: Array) -> Array:
    """TQ of summed statistics; error rates count as 100 − rate, as Niu §2 takes '1 minus TER'."""
    scores = scorer.aggregate(sums)
    return scores if scorer.higher_is_better else 100 - scores


def harmonic_mean(one: Array, other: Array) -> Array:
    """2ab/(a + b), and 0 where both are 0."""
    return np.where(one + other == 0, 0.0, 2 * one * other / np.where(one + other == 0, 1.0, one + other))


def cells(scores: pl.DataFrame, scorers: list[Scorer], resamples: int, seed: int) -> Iterator[Cell]:
    """Cut a table of scores into cells; the clean baseline of each holds just the segments that were perturbed."""
    by_name = {scorer.name: scorer for scorer in scorers}
    for (pair, system, name), part in scores.group_by(["language_pair", "system", "scorer"], maintain_order=True):
        clean = part.filter(pl.col("perturbation").is_null())
        noisy = part.filter(pl.col("perturbation").is_not_null())
        for (change, level), some in noisy.group_by(["perturbation", "level"], maintain_order=True):
            rows = some["row"].unique().sort()
            baseline = clean.filter(pl.col("row").is_in(rows.implode()))
            judged, paired = (some[name].null_count() == 0 for name in ("statistics", "forward"))
            yield Cell(
                pair,
                str(system),
                by_name[str(name)],
                str(change),
                level,
                rows.to_numpy(),
                summed_by_row(baseline, "statistics") if judged else None,
                summed_by_row(some, "statistics") if judged else None,
                summed_by_row(some, "forward") if paired else None,
                summed_by_row(some, "backward") if paired else None,
                resamples,
                seed,
            )


def result(key: Row, measure: str, drawn: Resampled, n: int, p: float | None = None) -> Row:
    """One row of measures: value, standard deviation, 95 % interval."""
    found = drawn.estimate()
    return {**key, "measure": measure, "value": found.value, "sd": found.sd, "low": found.low, "high": found.high,
            "p": p, "n": n}  # fmt: skip


def cell_results(cell: Cell) -> list[Row]:
    """All measures of a cell. The p-value of Δ, paired bootstrap, is ROBUST's too: one is 0 where the other is 100."""
    p = p_value(cell.measures["delta"], len(cell.rows)) if "delta" in cell.measures else None
    tested = {"delta": p, "robust": p}
    return [result(cell.key, name, drawn, len(cell.rows), tested.get(name)) for name, drawn in cell.measures.items()]


def p_value(drawn: Resampled, n: int) -> float:
    """The bootstrap's p-value, but never below 2^(1 − n).

    Resamples of few segments are too much alike to doubt anything. Under exchange of the two sides, n segments have
    2ⁿ arrangements, so no two-sided test on them can be surer than that; a single segment shows nothing.
    """
    return pvalues.p_value(drawn.null, drawn.value, segments=n)


def inconsistency(translations: pl.DataFrame, threshold: float, resamples: int, seed: int) -> list[Row]:
    """Share of translations whose sentence chrF against the clean one's is below the threshold (Jwalapuram §4.1)."""
    found = []
    noisy = translations.filter(pl.col("perturbation").is_not_null())
    groups = ["language_pair", "system", "perturbation", "level"]
    for values, part in noisy.group_by(groups, maintain_order=True):
        by_row = part.group_by("row", maintain_order=True).agg((pl.col("consistency") < threshold).mean())
        below = 100 * by_row["consistency"].to_numpy()
        rows = np.stack([below, np.ones_like(below)], axis=1)
        drawn = resampled_sums(rows, resamples, seed)
        key = dict(zip(groups, values, strict=True)) | {"scorer": "chrf"}
        found.append(result(key, "inconsistent", Resampled(below.mean(), drawn[:, 0] / drawn[:, 1]), len(below)))
    return found


def system_differences(found: list[Cell]) -> list[Row]:
    """ROBUST and CONSIS of one system minus another's, paired, where both were judged on the same segments."""
    rows = []
    for one, other in combinations(found, 2):
        if {**one.key, "system": ""} != {**other.key, "system": ""} or not np.array_equal(one.rows, other.rows):
            continue
        for name in ("robust", "consis"):
            if name in one.measures:
                drawn = one.measures[name] - other.measures[name]
                key = {**one.key, "other": other.system}
                rows.append(result(key, f"{name}_difference", drawn, len(one.rows), p_value(drawn, len(one.rows))))
    return rows


def ranks(found: list[Cell]) -> list[Row]:
    """Systems ordered by ROBUST (by CONSIS without references), 1 the sturdiest, per perturbation and scorer.

    Equal systems share a rank; those without a value (a clean score of 0) have none.
    """
    rows = []
    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in found:
        groups.setdefault(tuple({**cell.key, "system": ""}.values()), []).append(cell)
    for group in groups.values():
        if len(group) > 1:
            name = "robust" if "robust" in group[0].measures else "consis"
            values = [cell.measures[name].value for cell in group if np.isfinite(cell.measures[name].value)]
            rows += [
                {**cell.key, "measure": "rank", "value": 1.0 + sum(better > value for better in values),
                 "n": len(cell.rows)}
                for cell in sorted(group, key=lambda cell: -np.nan_to_num(cell.measures[name].value))
                if np.isfinite(value := cell.measures[name].value)
            ]  # fmt: skip
    return rows


def robust_consis_correlation(found: list[Cell]) -> list[Row]:
    """Pearson's r between ROBUST and CONSIS over the cells of a language pair (Niu Figure 1)."""
    rows = []
    groups: dict[tuple[str | None, str], list[Cell]] = {}
    for cell in found:
        if "robust" in cell.measures:
            groups.setdefault((cell.language_pair, cell.scorer.name), []).append(cell)
    for (pair, scorer), group in groups.items():
        points = np.array([[cell.measures["robust"].value, cell.measures["consis"].value] for cell in group])
        points = points[np.isfinite(points).all(axis=1)]
        if len(points) > 2 and points.std(axis=0).min() > 0:
            r = float(np.corrcoef(points.T)[0, 1])
            rows.append({"language_pair": pair, "scorer": scorer, "measure": "robust_consis_correlation", "value": r,
                         "n": len(points)})  # fmt: skip
    return rows
