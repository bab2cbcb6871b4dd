"""The ACES score: one number for a metric from ten categories of errors (Amrhein et al. 2022)."""

import numpy as np
import polars as pl

from babelquake.data.aces import WEIGHTS, category_of
from babelquake.runs.measures import Measure
from babelquake.scorers.base import Array
from babelquake.stats.resampling import by_unit
from babelquake.studies.cells import Cell, Place
from babelquake.studies.kinds import shared
from babelquake.studies.segment_units import keys_by_row
from babelquake.studies.tests_to_measures import measured


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
