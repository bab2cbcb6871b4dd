"""Challenge sets: does a metric prefer the translation over a version of it with one known error? (DEMETR)

Karpinska et al. 2022 §3: detection accuracy is the share of triples in which the original scores strictly higher; the
ratio compares the loss with that for a sentence that has nothing to do with the reference:
(f(t, r) − f(t′, r)) / (f(t, r) − f(u, r)), means over the phenomenon's triples.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from babelquake.engine import Engine
from babelquake.scorers.base import Array, Batch, Scorer
from babelquake.stats.bootstrap import bootstrap
from babelquake.studies.robustness import result


def judge_triples(segments: pl.DataFrame, judges: Sequence[Scorer], engine: Engine) -> pl.DataFrame:
    """Per triple and scorer: the score of the translation, of its perturbed version, and of an unrelated sentence."""
    references, sources = segments["references"].to_list(), segments["source"].fill_null("").to_list()
    translations = segments["translation"].to_list()
    unrelated = translations[len(translations) // 2 :] + translations[: len(translations) // 2]
    parts = []
    for judge in judges:
        sign = 1 if judge.higher_is_better else -1
        columns = {
            name: sign * judge.score_rows(engine.statistics(judge, Batch(texts, references, sources)))
            for name, texts in (
                ("score", translations),
                ("score_perturbed", segments["perturbed"].to_list()),
                ("score_unrelated", unrelated),
            )
        }
        keys = segments.select("row", "id", "language_pair", "phenomenon", "severity")
        parts.append(keys.with_columns(scorer=pl.lit(judge.name), **{k: pl.Series(v) for k, v in columns.items()}))
    return pl.concat(parts)


def challenge_results(scores: pl.DataFrame, resamples: int, seed: int) -> list[dict[str, Any]]:
    """Accuracy and ratio per scorer, for every phenomenon, every severity and all together."""
    rows = []
    for (scorer,), part in scores.group_by("scorer", maintain_order=True):
        groups = [("all", part)]
        groups += [(str(name), some) for (name,), some in part.group_by("phenomenon", maintain_order=True)]
        for (severity,), some in part.filter(pl.col("severity").is_not_null()).group_by(
            "severity", maintain_order=True
        ):
            groups.append((f"severity: {severity}", some))
        for label, some in groups:
            loss = (some["score"] - some["score_perturbed"]).to_numpy()
            worst = (some["score"] - some["score_unrelated"]).to_numpy()
            table = np.stack([np.ones_like(loss), loss > 0, loss, worst], axis=1)
            key = {"scorer": scorer, "perturbation": label}
            accuracy = bootstrap(_accuracy, [table], resamples, seed)
            rows.append(result(key, "detection_accuracy", accuracy, len(loss)))
            rows.append(result(key, "change_ratio", bootstrap(_ratio, [table], resamples, seed), len(loss)))
    return rows


def _accuracy(sums: Array) -> Array:
    return np.asarray(100 * sums[..., 1] / sums[..., 0])


def _ratio(sums: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(sums[..., 2] / sums[..., 3])
