"""What the probes say of a QE model: drops, MPP − MAP, flags, and rankings without human labels (Kanojia 2021 §6)."""

from collections.abc import Collection, Mapping, Sequence
from itertools import permutations
from math import factorial
from typing import Any

import numpy as np
import polars as pl

from babelquake.scorers.base import Array, Scorer
from babelquake.stats import pvalues
from babelquake.stats.bootstrap import Resampled, resampled_sums
from babelquake.stats.corrections import holm
from babelquake.studies.mt.robustness import p_value, result

Row = dict[str, Any]
Titles = Mapping[str, Mapping[str, str]]
Probe = tuple[str, float | None]
"""A perturbation's label and its level."""
ALPHA = 0.05
RANKS = {"rank_discrimination": "discrimination_standardised", "rank_pearson": "pearson"}
"""Rankings, and the measure each goes by."""


def probe_results(
    sums: pl.LazyFrame,
    judges: Sequence[Scorer],
    probes: Titles,
    resamples: int,
    seed: int,
    unprobed: Collection[str] = (),
) -> tuple[list[Row], list[Row]]:
    """Mean scores (Table 4), drops per probe (Figures 1, 3–6), discrimination, and flags in plain words.

    Of the scorers `unprobed`, which know clean texts only, there is nothing but the mean.
    """
    rows: list[Row] = []
    flags: list[Row] = []
    for judge in judges:
        table = sums.filter(pl.col("scorer") == judge.name).drop("statistics").collect()
        if judge.name in unprobed:
            table = table.filter(pl.col("perturbation").is_null())
        for (pair,), part in table.group_by("language_pair", maintain_order=True):
            found = Probed(part, judge, probes, resamples, seed)
            key = {"language_pair": pair, "scorer": judge.name}
            rows += found.results(key)
            flags += found.flags(key)
    return rows, flags


class Probed:
    """One model on one language pair: per segment its clean score and its score under each probe."""

    def __init__(self, table: pl.DataFrame, judge: Scorer, probes: Titles, resamples: int, seed: int) -> None:
        self.probes = probes
        sign = 1 if judge.higher_is_better else -1
        clean = table.filter(pl.col("perturbation").is_null()).select("row", pl.col("score").alias("clean"))
        noisy = table.filter(pl.col("perturbation").is_not_null()).join(clean, on="row")
        rows = clean["row"].sort()
        place = {row: position for position, row in enumerate(rows)}
        present = noisy.select("perturbation", "level").unique(maintain_order=True).rows()
        self.cells: list[Probe] = [cell for label in probes for cell in present if cell[0] == label]
        self.columns = np.zeros((len(rows), 2 + 2 * len(self.cells)))
        self.columns[[place[row] for row in clean["row"]], 0] = clean["clean"].to_numpy()
        self.columns[:, 1] = 1
        for number, (label, level) in enumerate(self.cells, 1):
            here = (pl.col("perturbation") == label) & pl.col("level").eq_missing(pl.lit(level, pl.Float64))
            some = noisy.filter(here & pl.col("score").is_not_nan())
            at = [place[row] for row in some["row"]]
            self.columns[at, 2 * number] = sign * (some["clean"] - some["score"]).to_numpy()
            self.columns[at, 2 * number + 1] = 1
        self.sign = sign
        self.total, self.drawn = self.columns.sum(axis=0), resampled_sums(self.columns, resamples, seed)

    def mean(self, number: int) -> Resampled:
        """The mean of a column pair: 0 the clean score, then the drop under each probe."""
        at = 2 * number
        with np.errstate(divide="ignore", invalid="ignore"):
            return Resampled(float(self.total[at] / self.total[at + 1]), self.drawn[:, at] / self.drawn[:, at + 1])

    def drop(self, cell: Probe) -> Resampled:
        """Mean loss of score under a probe, over the segments it applies to."""
        return self.mean(self.cells.index(cell) + 1)

    def title(self, cell: Probe) -> str:
        """A probe in plain words, with its level where there are several."""
        label, level = cell
        several = sum(label == other for other, _ in self.cells) > 1
        return self.probes[label]["title"] + (f" at {level:g}" if several and level is not None else "")

    def of_meaning(self, meaning: str) -> list[Probe]:
        """The probes of a kind that could be scored."""
        return [
            cell
            for cell in self.cells
            if self.probes[cell[0]]["meaning"] == meaning and np.isfinite(self.drop(cell).value)
        ]

    def average(self, cells: Sequence[Probe]) -> Resampled | None:
        """The mean drop over some probes."""
        if not cells:
            return None
        found = [self.drop(cell) for cell in cells]
        return Resampled(float(np.mean([drawn.value for drawn in found])), np.mean([d.values for d in found], axis=0))

    def results(self, key: Row) -> list[Row]:
        """Rows of measures. MPP and MAP scores are the clean mean less the mean drop, so they share their segments."""
        clean = self.mean(0)
        rows = [result(key, "score_mt", clean, len(self.columns))]
        kept, changed = (self.average(self.of_meaning(meaning)) for meaning in ("preserving", "altering"))
        for name, loss in (("score_mpp", kept), ("score_map", changed)):
            if loss is not None:
                shown = Resampled(clean.value - self.sign * loss.value, clean.values - self.sign * loss.values)
                rows.append(result(key, name, shown, len(self.columns)))
        drops = []
        for cell in self.of_meaning("preserving") + self.of_meaning("altering") + self.of_meaning("depends"):
            drawn = self.drop(cell)
            n = int(self.total[2 * self.cells.index(cell) + 3])
            here = {**key, "perturbation": cell[0], "level": cell[1]}
            drops.append(result(here, "drop", drawn, n, p_value(drawn, n)))
        for row, p in zip(drops, holm(row["p"] for row in drops), strict=True):
            row["p_corrected"] = float(p)
        rows += drops
        if kept is not None and changed is not None:
            difference = changed - kept
            rows.append(
                result(key, "discrimination", difference, len(self.columns), p_value(difference, len(self.columns)))
            )
        return rows

    def flags(self, key: Row) -> list[Row]:
        """Meaning-altering probes that cost not significantly more than the meaning-preserving ones do on average.

        And those that even cost less than a single harmless change. One-sided paired bootstraps, each family
        Holm-corrected over the model's probes.
        """
        harmless = self.of_meaning("preserving")
        average = self.average(harmless)
        harmful = self.of_meaning("altering")
        if average is None or not harmful:
            return []
        p_values = holm(_larger(self.drop(cell) - average) for cell in harmful)
        against = [(cell, other) for cell in harmful for other in harmless]
        dearer = holm(_larger(self.drop(other) - self.drop(cell)) for cell, other in against)
        found = []
        for cell, p in zip(harmful, p_values, strict=True):
            if p >= ALPHA:
                found.append({**key, "perturbation": cell[0], "text": f"does not see: {self.title(cell)}"})
            worse = [other for (mine, other), q in zip(against, dearer, strict=True) if mine == cell and q < ALPHA]
            if worse:
                costliest = max(worse, key=lambda other: self.drop(other).value)
                text = f"{self.title(cell)} costs less than {self.title(costliest)}"
                found.append({**key, "perturbation": cell[0], "text": text})
        return found


def _larger(drawn: Resampled) -> float:
    return pvalues.p_value(drawn.null, drawn.value, "greater")


def standardised(rows: Sequence[Row], spreads: Mapping[tuple[str | None, str], float]) -> list[Row]:
    """Discrimination in standard deviations of the model's own scores of unperturbed translations.

    The paper's models all score from 0 to 1; models whose scales differ can be ranked only in units of their own.
    """
    found = []
    for row in rows:
        spread = spreads.get((row["language_pair"], row["scorer"]), 0.0)
        if row["measure"] == "discrimination" and spread > 0:
            scaled = {name: row[name] / spread for name in ("value", "sd", "low", "high")}
            found.append({**row, **scaled, "measure": "discrimination_standardised"})
    return found


def ranking_results(rows: Sequence[Row], seed: int) -> list[Row]:
    """Rank of each model by standardised discrimination and by Pearson, and how the two rankings agree (Figure 2)."""
    found: list[Row] = []
    for pair in dict.fromkeys(row["language_pair"] for row in rows):
        values = {
            measure: {
                row["scorer"]: row["value"]
                for row in rows
                if row["measure"] == measure and row["language_pair"] == pair and np.isfinite(row["value"])
            }
            for measure in RANKS.values()
        }
        for name, measure in RANKS.items():
            known = values[measure]
            found += [
                {"language_pair": pair, "scorer": scorer, "measure": name,
                 "value": 1.0 + sum(other > value for other in known.values()), "n": len(known)}
                for scorer, value in sorted(known.items(), key=lambda item: -item[1])
            ]  # fmt: skip
        shared = [scorer for scorer in values["discrimination_standardised"] if scorer in values["pearson"]]
        if len(shared) > 2:
            one, other = (np.array([values[name][scorer] for scorer in shared]) for name in RANKS.values())
            tau, p = rank_agreement(one, other, seed)
            found.append({"language_pair": pair, "measure": "rank_agreement", "value": tau, "p": p, "n": len(shared)})
    return found


def rank_agreement(one: Array, other: Array, seed: int, draws: int = 10_000) -> tuple[float, float]:
    """Kendall's τ of two rankings and its one-sided permutation p-value: exact up to eight models, drawn beyond."""
    observed = _tau(one, other)
    if factorial(len(one)) <= factorial(8):
        orders = np.array(list(permutations(range(len(one)))))
    else:
        rng = np.random.default_rng(seed)
        orders = np.array([rng.permutation(len(one)) for _ in range(draws)])
        orders[0] = np.arange(len(one))
    drawn = np.array([_tau(one, other[order]) for order in orders])
    return float(observed), float(np.mean(drawn >= observed - 1e-12))


def _tau(one: Array, other: Array) -> float:
    signs = np.sign(one[:, None] - one) * np.sign(other[:, None] - other)
    return float(signs.sum() / (len(one) * (len(one) - 1)))
