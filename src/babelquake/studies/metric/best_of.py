"""Selection pressure: of N candidates pick what one scorer likes best – how do the others, and people, like the pick?

Reranking, minimum Bayes risk decoding and reinforcement learning select by a metric. Candidates of a segment are the
translations that the data have of it and, with a suite, changed versions of them. What a pick among n of M candidates
is worth on average is known exactly: the candidate of rank j (from 0) is picked with C(M−1−j, n−1) / C(M, n).
Scores are in standard deviations of each judge's scores of unchanged translations, and stand against a random pick.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import comb
from typing import Any

import numpy as np
import polars as pl

from babelquake.errors import UserError, setting
from babelquake.perturb.card import Card
from babelquake.perturb.labels import known_card
from babelquake.runs.findings import Finding
from babelquake.runs.measures import Measure, Results, Row, apart
from babelquake.scorers.base import Array
from babelquake.studies.cells import Scored, average
from babelquake.studies.kinds import metric as kinds

PEOPLE, HARMFUL = "people", "harmful"
GIVEN = "given translations"
"""The part of the candidates that people may have judged: those that came with the data."""
CELL = ["row", "perturbation", "level"]


def best_of_measures(scored: Scored, meanings: Mapping[str, str], most: int) -> Iterator[Measure]:
    """For every picker, judge and number of candidates what picking gains; for all candidates, and for given ones."""
    table = _candidates(scored, meanings)
    judges = [scorer.name for scorer in scored.scorers]
    given = table.filter(pl.col("perturbation").is_null())
    several = table.height > given.height
    largest = 0
    for (pair,), part in table.group_by("language_pair", maintain_order=True):
        mine = given.filter(pl.col("language_pair").eq_missing(pl.lit(pair, pl.String)))
        rated = mine if mine[PEOPLE].null_count() == 0 else None
        among = [(None if several else GIVEN, part, judges)]
        if several or rated is not None:
            among.append((GIVEN, mine, [*judges, PEOPLE] if rated is not None else judges))
        for group, some, by in among[-1:] if not several else among:
            pools = [pool for _, pool in some.group_by("key", maintain_order=True)]
            largest = max([largest, *(pool.height for pool in pools)])
            wanted = most if group is None else min(most, max(pool.height for pool in pools))
            enough = [pool for pool in pools if pool.height >= wanted]
            if wanted > 1 and enough:
                yield from _curves(enough, judges, by, wanted, {"language_pair": pair, "group": group})
    if largest < 2 or (several and largest < most):
        raise UserError(
            f"{setting('best_of', most)}: the data have at most {largest} candidates per segment. Use data with "
            f"translations of several systems, or {setting('suite', metavar='SUITE')} for changed versions of them."
        )


def _candidates(scored: Scored, meanings: Mapping[str, str]) -> pl.DataFrame:
    """One row per candidate: its segment, what every scorer says of it in standard deviations, and what people do."""
    columns = [*CELL, "language_pair", "score"]
    found: pl.DataFrame | None = None
    for scorer in scored.scorers:
        mine = scored.by(scorer).select(columns).collect()
        clean = mine.filter(pl.col("perturbation").is_null())["score"].to_numpy()
        mean, spread = float(np.nanmean(clean)), float(np.nanstd(clean))
        if not spread > 0:
            raise UserError(
                f"{setting('best_of')}: {scorer.name} gives every translation the same score, so it cannot pick one."
            )
        turned = mine.with_columns(((pl.col("score") - mean) / spread * scorer.sign).alias(scorer.name)).drop("score")
        on = [*CELL, "language_pair"]
        found = turned if found is None else found.join(turned, on=on, nulls_equal=True, maintain_order="left")
    if found is None:
        raise UserError(f"{setting('best_of')} needs scorers: one that picks and one that judges.")
    names = found["perturbation"].drop_nulls().unique().to_list()
    whole = [name for name in names if (card := known_card(name)) is not None and _shows_reference(card)]
    human = pl.col("score").cast(pl.Float64)
    rated = scored.segments.select("row", ((human - human.mean()) / human.std(ddof=0)).alias(PEOPLE))
    kept = found.filter(pl.col("perturbation").is_null() | ~pl.col("perturbation").is_in(whole))
    kept = kept.filter(pl.all_horizontal(pl.col(scorer.name).is_finite() for scorer in scored.scorers))
    return kept.join(rated, on="row", how="left", maintain_order="left").with_columns(
        key=pl.Series(scored.keys[kept["row"].to_numpy()]),
        harmful=pl.col("perturbation").replace_strict(meanings, default=None).eq_missing("altering").cast(pl.Float64),
    )


def _shows_reference(card: Card) -> bool:
    """Whether a change is no version of the translation: it brings its own reference, or is made of the segment's."""
    return card.rewrites or "reference" in card.wants


def _curves(
    pools: Sequence[pl.DataFrame], pickers: Sequence[str], judges: Sequence[str], most: int, place: Mapping[str, Any]
) -> Iterator[Measure]:
    for picker in pickers:
        for n in counts(most):
            gains = np.array([_gains(pool, picker, judges, n) for pool in pools])
            for judge, each in zip(judges, gains.T, strict=True):
                yield average(kinds.BEST_OF, each, **place, scorer=picker, other=judge, level=float(n))
            if place["group"] is None:
                shares = np.array(
                    [100 * picked(pool[picker].to_numpy(), n) @ pool[HARMFUL].to_numpy() for pool in pools]
                )
                yield average(kinds.PICKED_HARMFUL, shares, **place, scorer=picker, level=float(n))


def counts(most: int) -> list[int]:
    """1, 2, 4 … and the largest."""
    return sorted({1 << power for power in range(most.bit_length()) if 1 << power <= most} | {most})


def _gains(pool: pl.DataFrame, picker: str, judges: Sequence[str], n: int) -> Array:
    """What each judge gains on average when the picker picks among n of a segment's candidates, over a random one."""
    chances = picked(pool[picker].to_numpy(), n)
    liked = pool.select(judges).to_numpy()
    return np.asarray(chances @ liked - liked.mean(axis=0))


def picked(scores: Array, n: int) -> Array:
    """How probable it is that each candidate is the best of n drawn without replacement; equal scores share."""
    size = len(scores)
    ranked = np.array([comb(size - 1 - rank, n - 1) / comb(size, n) for rank in range(size)])
    _, places, same = np.unique(-scores, return_inverse=True, return_counts=True)
    starts = np.concatenate([[0], np.cumsum(same)[:-1]])
    return np.asarray((np.add.reduceat(ranked, starts) / same)[places])


def best_of_findings(results: Results) -> Iterator[Finding]:
    """Per picker what it gains by its own measure, and what the others gain, at the largest number of candidates."""
    rows = results.known(kinds.BEST_OF.name)
    for (pair, group, picker), mine in apart(rows, "language_pair", "group", "scorer"):
        top = max(row["level"] for row in mine)
        last = [row for row in mine if row["level"] == top]
        last.sort(key=lambda row: (row["other"] != picker, -float(row["value"])))
        last += _harmful(results, picker, pair, group, top)
        facts = {"candidates": top, "among": group or "translations and changed versions of them"}
        yield Finding.on("best_of", *last, weight="answer", level=None, facts=facts)


def _harmful(results: Results, picker: str, pair: str | None, group: str | None, top: float) -> list[Row]:
    """How often the pick is a text that a change made worse, where there are such candidates."""
    key = {"scorer": picker, "language_pair": pair, "level": top}
    return results.known(kinds.PICKED_HARMFUL.name, **key) if group is None else []
