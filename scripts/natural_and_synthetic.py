"""Does synthetic noise rank systems as raw comments do? Spearman's ρ over systems from English, for docs/results.

python scripts/natural_and_synthetic.py ROCS-MT/v1 OUT en-es='apertium[pair=eng-spa]' en-fr='hf[model=…]' …

Every system translates the first SENTENCES normalised sentences of RoCS-MT that differ from what was written: as they
are, raw, and under the suite `everyday`. Compared are the CONSIS on raw sentences and the mean CONSIS over the
perturbations. Intervals are over resampled comments, the same for all systems; p is exact, over all orders.
"""

import sys
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import numpy as np
import polars as pl
from scipy.stats import rankdata

import babelquake as bq
from babelquake.studies.mt.cells import harmonic_mean

SENTENCES = 200
LEAST = 20
"""Sentences that a perturbation must apply to, to have a part."""
RESAMPLES = 2000
RAW = "raw"

Values = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def comments(rocs: str) -> pl.DataFrame:
    """Normalised sentences with their raw versions."""
    all_systems = bq.read(f"{rocs}:en-cs").segments
    versions = all_systems.filter(pl.col("system") == all_systems["system"][0], pl.col("perturbation") == RAW)
    differing = versions.filter(pl.col("source") != pl.col("perturbed")).head(SENTENCES)
    return differing.select("id", "source", "perturbed", "perturbation", "document")


def consis(run: bq.Run, resamples: Values) -> dict[str, Values]:
    """CONSIS by perturbation: first over all comments, then over each resample of them."""
    documents = run.segments["document"].unique(maintain_order=True).to_list()
    place = dict(zip(run.segments["id"], map(documents.index, run.segments["document"]), strict=True))
    counts = np.vstack([np.ones(len(documents)), resamples[:, : len(documents)]])
    chrf, found = bq.scorer("chrf"), {}
    scores = run.scores.filter(pl.col("forward").is_not_null())
    for (name, level), rows in scores.group_by("perturbation", "level", maintain_order=True):
        if len(rows) < LEAST:
            continue
        ways = []
        for way in ("forward", "backward"):
            statistics = np.array(rows[way].to_list())
            sums = np.zeros((len(documents), statistics.shape[1]))
            np.add.at(sums, [place[one] for one in rows["id"]], statistics)
            ways.append(chrf.aggregate(counts @ sums))
        found[f"{name}" + ("" if level is None else f" {level:g}")] = harmonic_mean(*ways)
    return found


def spearman(one: Values, other: Values) -> Values:
    """Spearman's ρ of each column of two tables (systems × resamples)."""
    ranks = [rankdata(each, axis=0) for each in (one, other)]
    first, second = (each - each.mean(axis=0) for each in ranks)
    return (first * second).sum(axis=0) / np.sqrt((first**2).sum(axis=0) * (second**2).sum(axis=0))


def by_chance(one: Values, other: Values) -> float:
    """The share of orders of the systems that agree, in either direction, as well as theirs."""
    orders = np.array(list(permutations(rankdata(other)))).T
    found = np.abs(spearman(np.repeat(rankdata(one)[:, None], orders.shape[1], axis=1), orders))
    return float((found >= abs(spearman(one[:, None], other[:, None])[0]) - 1e-9).mean())


def interval(values: Values) -> str:
    """The value on all comments, with the middle 95 % of the resamples."""
    low, high = np.percentile(values[1:], [2.5, 97.5])
    return (
        f"{values[0]:.1f} [{low:.1f}, {high:.1f}]" if abs(values[0]) > 1 else f"{values[0]:.2f} [{low:.2f}, {high:.2f}]"
    )


def main(rocs: str, out: Path, systems: Sequence[str]) -> None:
    """Run what is not there yet, print the tables."""
    data = comments(rocs)
    count = data["document"].n_unique()
    rng = np.random.default_rng(0)
    resamples = rng.multinomial(count, np.full(count, 1 / count), size=RESAMPLES).astype(float)
    found: dict[str, dict[str, Values]] = {}
    for named in systems:
        pair, _, spec = named.partition("=")
        run = bq.mt(
            data=data,
            systems=[spec],
            suite="everyday",
            scorers=["chrf"],
            language_pair=pair,
            encoder="none",
            resamples=100,
            out=out / f"{pair}-{spec.partition('[')[0]}",
        )
        found[named] = consis(run, resamples)
    kinds = [kind for kind in next(iter(found.values())) if kind != RAW and all(kind in one for one in found.values())]
    raw = np.array([one[RAW] for one in found.values()])
    made = np.array([np.mean([one[kind] for kind in kinds], axis=0) for one in found.values()])
    print(f"{len(data)} sentences, {count} comments, {len(kinds)} perturbations, {len(found)} systems\n")
    for named, natural, synthetic in sorted(zip(found, raw, made, strict=True), key=lambda one: -one[1][0]):
        print(f"| {named} | {interval(natural)} | {interval(synthetic)} |")
    print(f"\nall: ρ = {interval(spearman(raw, made))}, p = {by_chance(raw[:, 0], made[:, 0]):.3f}")
    for kind in kinds:
        each = np.array([one[kind] for one in found.values()])
        print(f"{kind}: ρ = {interval(spearman(raw, each))}, p = {by_chance(raw[:, 0], each[:, 0]):.3f}")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
