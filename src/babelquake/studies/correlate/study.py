"""Agreement with human judgements by every definition the field uses: what `babelquake correlate` computes."""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from babelquake.data import Dataset, Given, dataset
from babelquake.engine import Engine
from babelquake.errors import UserError, did_you_mean
from babelquake.runs.run import Run
from babelquake.scorers import Questions, Scorer
from babelquake.scorers.base import Array
from babelquake.stats.corrections import holm
from babelquake.stats.groups import By
from babelquake.stats.kendall import kendall_like
from babelquake.stats.permutation import compare_agreement, permutation_test
from babelquake.stats.pvalues import p_value
from babelquake.studies import kinds
from babelquake.studies.card import Study
from babelquake.studies.correlate.agreements import agreements, parts_by_pair, score_tables, with_averages
from babelquake.studies.missing import missing_error
from babelquake.studies.mt.robustness import result
from babelquake.studies.tables import references_each, scorers_of

CORRELATE = Study(
    "correlate",
    question="How well do these scores agree with human judgements?",
    measures=tuple(kinds.AGREEMENTS.values()),
    gated=("darr", "kendall_like", "pearson", "accuracy"),
)
STATISTICS = ("darr", "kendall_like", "pearson", "spearman", "kendall", "accuracy")
COMPARED = ("pearson", "kendall_like")
"""Statistics for which pairs of scorers are compared by PERM-BOTH."""


def correlate(
    scorers: str | Scorer | Sequence[str | Scorer],
    data: Given,
    *,
    out: Path | str,
    statistics: Sequence[str] = STATISTICS,
    threshold: float = 25.0,
    by: By | None = None,
    resamples: int = 10_000,
    draws: int = 1000,
    seed: int = 0,
    restart: bool = False,
    engine: Engine | None = None,
) -> Run:
    """Each scorer's agreement with the data's human judgements, and which differences are significant."""
    for name in statistics:
        if name not in STATISTICS:
            raise UserError(f"no agreement is called '{name}'. {did_you_mean(name, STATISTICS)}")
    material = dataset(data)
    if not material.has("translation") or (not material.has("score") and material.pairs is None):
        raise UserError(
            f"{material.name} has no human judgements of translations: a column `score`, or better/worse pairs."
        )
    with CORRELATE.session(
        out,
        data=material,
        scorers=scorers_of(scorers),
        seed=seed,
        resamples=resamples,
        restart=restart,
        engine=engine,
        statistic=list(statistics),
        threshold=threshold,
        by=by,
        draws=draws,
    ) as session:
        session.attach(references_each(material.segments) if material.has("references") else None)
        if session.finished:
            return session.run
        session.say(*material.notes)
        segments = session.once("segments", lambda: material.segments.with_row_index("row"))
        scores = session.once("scores", lambda: _scores(session.scorers, material, session.engine, session.ready))
        values = {
            scorer.name: scores.filter(pl.col("scorer") == scorer.name)["score"].to_numpy()
            * (1 if scorer.higher_is_better else -1)
            for scorer in session.scorers
        }
        rows = agreement_results(segments, material.pairs, values, statistics, threshold, by, resamples, draws, seed)
        return session.finish(rows)


def agreement_results(
    segments: pl.DataFrame,
    pairs: pl.DataFrame | None,
    values: dict[str, Array],
    statistics: Sequence[str],
    threshold: float,
    by: By | None,
    resamples: int,
    draws: int,
    seed: int,
) -> list[dict[str, Any]]:
    """Agreement of every scorer, and of every two of them the difference; `values` has higher is better."""
    found, rows = {}, []
    for pair, part, preferences, places in parts_by_pair(segments, pairs):
        here = {name: scores[places] for name, scores in values.items() if not np.isnan(scores[places]).all()}
        for name, scores in here.items():
            found[(pair, name)] = agreements(
                part, preferences, scores, statistics, resamples=resamples, seed=seed, threshold=threshold, by=by
            )
        rows += _differences(part, preferences, here, found, pair, statistics, threshold, by, draws, seed)
    for row, p in zip(rows, holm(row["p"] for row in rows), strict=True):
        row["p_corrected"] = float(p)
    return with_averages(found, ("language_pair", "scorer")) + rows


def _scores(scorers: Sequence[Scorer], data: Dataset, engine: Engine, ready: dict[str, Array]) -> pl.DataFrame:
    """One row per translation and scorer."""
    keys = data.segments.with_row_index("row").select("row", "id", "language_pair", "system")
    return pl.concat(
        keys.with_columns(
            scorer=pl.lit(scorer.name),
            score=pl.Series(_values(scorer, data, engine, ready.get(scorer.name)), dtype=pl.Float64),
        )
        for scorer in scorers
    )


def _values(judge: Scorer, data: Dataset, engine: Engine, ready: Array | None) -> Array:
    """One score per row; a scorer of ready-made scores must have them all where humans judged."""
    segments = data.segments
    if "reference" in judge.needs and not data.has("references"):
        raise UserError(f"{data.name} has no references, which scorer '{judge.name}' needs.")
    references = segments["references"].to_list() if data.has("references") else None
    batch = Questions(
        segments["translation"].fill_null("").to_list(), references, segments["source"].fill_null("").to_list()
    )
    scores = ready if ready is not None else judge.score_rows(engine.judge(judge, batch))
    judged = segments["score"].is_not_null().to_numpy() if data.pairs is None else np.ones(len(scores), dtype=bool)
    judged &= _pairs_with_scores(segments, scores)
    if (missing := np.flatnonzero(judged & np.isnan(scores))).size:
        first = segments.row(int(missing[0]), named=True)
        raise missing_error(
            judge.name, missing.size, int(judged.sum()), "judged translations", first["id"], first["translation"] or ""
        )
    return scores


def _differences(
    segments: pl.DataFrame,
    pairs: pl.DataFrame | None,
    values: dict[str, Array],
    found: dict[Any, Any],
    pair: str | None,
    statistics: Sequence[str],
    threshold: float,
    by: By | None,
    draws: int,
    seed: int,
) -> list[dict[str, Any]]:
    """Every two scorers: PERM-BOTH (Deutsch et al. 2021) on scores, paired bootstrap on better/worse pairs."""
    rows = []
    for one, other in combinations(values, 2):
        key = {"language_pair": pair, "scorer": one, "other": other}
        both = found[(pair, one)], found[(pair, other)]
        for name in both[0].keys() & both[1].keys() & {*COMPARED, "darr"} & set(statistics):
            (first, n), (second, _) = both[0][name], both[1][name]
            difference = first - second
            if name == "darr":
                p = p_value(difference.null, difference.value)
            else:
                human, metric = score_tables(segments, values[one])
                rival = score_tables(segments, values[other])[1]
                p = _permutation_p(name, human, metric, rival, threshold, by, draws, seed)
            rows.append(result(key, f"{name}_difference", difference, n, p))
    return sorted(rows, key=lambda row: (row["scorer"], row["measure"]))


def _pairs_with_scores(segments: pl.DataFrame, scores: Array) -> NDArray[np.bool_]:
    """Rows of the language pairs that a scorer has any scores for: a file of ready-made scores may be of one pair."""
    known = pl.DataFrame({"pair": segments["language_pair"], "known": ~np.isnan(scores)})
    return known.select(pl.col("known").any().over("pair"))["known"].to_numpy()


def _permutation_p(
    name: str, human: Array, metric: Array, rival: Array, threshold: float, by: By | None, draws: int, seed: int
) -> float:
    if name != "kendall_like":
        return compare_agreement(name, human, metric, rival, by=by, draws=draws, seed=seed).p

    def agree(scores: Array) -> Array:
        return kendall_like(human, scores, by or "item", threshold)

    return permutation_test(agree, metric, rival, human=human, draws=draws, seed=seed).p
