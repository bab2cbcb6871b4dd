"""Challenge sets: does a metric prefer the translation over a version of it with one known error? (DEMETR)

Karpinska et al. 2022 §3: detection accuracy is the share of triples in which the original scores strictly higher; the
ratio compares the loss with that for a sentence that has nothing to do with the reference:
(f(t, r) − f(t′, r)) / (f(t, r) − f(u, r)), means over the phenomenon's triples.

The ACES score is one number for a metric from ten categories of errors (Amrhein et al. 2022).
"""

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from babelquake.data.published_sets import WEIGHTS, category_of
from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.runs.measures import Measure
from babelquake.scorers.base import Array, Questions, Scorer
from babelquake.stats.bootstrap import ratio_of
from babelquake.stats.resampling import by_unit
from babelquake.studies.cells import Cell, Place, measured
from babelquake.studies.judging import of_each
from babelquake.studies.kinds import metric as kinds
from babelquake.studies.kinds import shared
from babelquake.studies.segment_units import Slices, groups_of, keys_by_row

LABELS = {"phenomenon": "perturbation", "severity": "group"}
"""Columns that triples are grouped by, and the column of measures that names the group."""


FORMULAS = {"detection_accuracy": ratio_of(1, 0, times=100), "change_ratio": ratio_of(2, 3)}
"""Of the sums of: ones, losses above 0, losses, losses to an unrelated sentence."""


def triples(segments: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, Questions]]:
    """The triples that test something, and what is asked of each by the column that holds the answer.

    Triples whose phenomenon does not occur, so that the perturbed translation is the translation, test nothing.
    """
    if "phenomenon" not in segments.columns and "perturbation" in segments.columns:
        segments = segments.with_columns(phenomenon="perturbation")
    segments = segments.filter(pl.col("translation_perturbed") != pl.col("translation"))
    if not segments.height:
        raise UserError("in every triple of the challenge set both translations are equal: there is nothing to detect.")
    references, sources = segments["references"].to_list(), segments["source"].fill_null("").to_list()
    translations = segments["translation"].to_list()
    texts = {
        "score": translations,
        "score_perturbed": segments["translation_perturbed"].to_list(),
        "score_unrelated": unrelated_to(references, translations),
    }
    return segments, {column: Questions(given, references, sources) for column, given in texts.items()}


def judge_triples(segments: pl.DataFrame, scorers: Sequence[Scorer], engine: Engine) -> pl.DataFrame:
    """Per triple and scorer: the score of the translation, of its perturbed version, and of an unrelated sentence."""
    segments, asked = triples(segments)
    lacking = [pl.lit(None, pl.String).alias(name) for name in LABELS if name not in segments.columns]
    keys = segments.with_columns(lacking).select("row", "id", "language_pair", *LABELS)

    def judged(scorer: Scorer) -> pl.DataFrame:
        scores = {
            column: pl.Series(scorer.sign * scorer.score_rows(engine.judge(scorer, questions)))
            for column, questions in asked.items()
        }
        return keys.with_columns(scorer=pl.lit(scorer.name), **scores)

    return pl.concat(of_each(scorers, judged).values())


def unrelated_to(references: Sequence[Sequence[str]], translations: Sequence[str]) -> list[str]:
    """For every triple a translation of another sentence: one half the set away, counting each reference once."""
    by_reference = {tuple(given): text for given, text in zip(references, translations, strict=True)}
    others = list(by_reference.values())
    shifted = others[len(others) // 2 :] + others[: len(others) // 2]
    of = dict(zip(by_reference, shifted, strict=True))
    return [of[tuple(given)] for given in references]


def challenge_results(
    scores: pl.DataFrame, segments: pl.DataFrame, resamples: int, seed: int, slices: Slices | None = None
) -> list[Measure]:
    """Accuracy and ratio per scorer, for every phenomenon, every severity, every slice and all together."""
    kind = {"detection_accuracy": kinds.DETECTION_ACCURACY, "change_ratio": kinds.CHANGE_RATIO}
    return [
        measured(kind[name], drawn, cell.n, **cell.place.columns)
        for cell in challenge_cells(scores, segments, resamples, seed, slices)
        for name, drawn in cell.numbers.items()
    ]


def challenge_cells(
    scores: pl.DataFrame, segments: pl.DataFrame, resamples: int, seed: int, slices: Slices | None = None
) -> Iterator[Cell]:
    """A cell per scorer and group of triples; triples of one sentence are one unit of chance."""
    keys = keys_by_row(segments)
    for (scorer,), part in scores.group_by("scorer", maintain_order=True):
        for group, some in groups_of(part, LABELS, slices):
            loss = (some["score"] - some["score_perturbed"]).to_numpy()
            worst = (some["score"] - some["score_unrelated"]).to_numpy()
            table = np.stack([np.ones_like(loss), loss > 0, loss, worst], axis=1)
            units, rows = by_unit(keys[some["row"].to_numpy()], table)
            cell = Cell(Place(None, str(scorer), **group), units, len(loss))
            cell.compute(FORMULAS, [rows], resamples, seed)
            yield cell


def aces_measures(scores: pl.DataFrame, segments: pl.DataFrame, resamples: int, seed: int) -> list[Measure]:
    """The ACES score of every scorer, where the phenomena are ACES's and cover all of its categories.

    τ = (C − D) / (C + D) of each phenomenon, ties discordant; the mean over a category's phenomena; their sum weighted
    by severity (Amrhein et al. 2022 §6).
    """
    phenomena = scores["phenomenon"].drop_nulls().unique(maintain_order=True).to_list()
    categories = {name: category_of(name) for name in phenomena}
    if set(categories.values()) != set(WEIGHTS):
        return []
    shares = {category: [*categories.values()].count(category) for category in WEIGHTS}
    weights = np.array([WEIGHTS[str(one)] / shares[str(one)] for one in categories.values()])
    keys, found = keys_by_row(segments), []

    def weighted(sums: Array) -> Array:
        counts, won = sums[..., : len(phenomena)], sums[..., len(phenomena) :]
        return np.asarray((2 * won / counts - 1) @ weights)

    for (scorer,), part in scores.group_by("scorer", maintain_order=True):
        own = np.array(phenomena)[None, :] == part["phenomenon"].to_numpy()[:, None]
        won = own & ((part["score"] - part["score_perturbed"]).to_numpy() > 0)[:, None]
        units, rows = by_unit(keys[part["row"].to_numpy()], np.concatenate([own, won], axis=1).astype(np.float64))
        cell = Cell(Place(None, str(scorer)), units, part.height)
        cell.compute({"aces_score": weighted}, [rows], resamples, seed)
        found.append(measured(shared.ACES_SCORE, cell.numbers["aces_score"], part.height, scorer=str(scorer)))
    return found
