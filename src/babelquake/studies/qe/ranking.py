"""Ranking QE models without human labels, and how the ranking agrees with Pearson's (Kanojia 2021 §6.3, Figure 2).

The paper ranks by MPP − MAP, the difference of score drops: the more negative, the better. That is right for models
that all score from 0 to 1; models whose scales differ can be ranked only in units of their own, so the same difference
in standard deviations of the model's own scores stands beside it, and each ranking has its own τ.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from babelquake.runs.measures import Kind, Measure
from babelquake.stats.bootstrap import Resampled
from babelquake.stats.groups import Array
from babelquake.stats.kendall import rank_agreement, tau_b
from babelquake.studies.cells import Cell, paired_test
from babelquake.studies.qe import kinds
from babelquake.studies.qe.discrimination import Probed
from babelquake.studies.tests_to_measures import Families, measured

RANKS: dict[str, tuple[Kind, Kind | None]] = {
    "discrimination_standardised": (kinds.RANK_DISCRIMINATION, kinds.RANK_AGREEMENT),
    "discrimination": (kinds.RANK_MPP_MINUS_MAP, kinds.RANK_AGREEMENT_RAW),
    "pearson": (kinds.RANK_PEARSON, None),
}
"""The measure a ranking goes by, the ranking, and its agreement with the ranking by Pearson."""


def standardised(measures: Sequence[Measure], spreads: Mapping[tuple[str | None, str], float]) -> list[Measure]:
    """Discrimination in standard deviations of the model's own scores of unperturbed translations."""
    found = []
    for measure in measures:
        spread = spreads.get((measure.language_pair, measure.scorer or ""), 0.0)
        if measure.kind.name == "discrimination" and spread > 0:
            value, sd, low, high = (
                None if number is None else number / spread
                for number in (measure.value, measure.sd, measure.low, measure.high)
            )
            kind = kinds.DISCRIMINATION_STANDARDISED
            found.append(replace(measure, kind=kind, value=value, sd=sd, low=low, high=high))
    return found


def rivalries(models: Sequence[Probed], spreads: Mapping[tuple[str | None, str], float]) -> list[Measure]:
    """How much better one model tells harmful from harmless changes than another, in standard deviations of each.

    Paired, for every two models on the same segments of a language pair; each two are their own family, so that a
    model more changes no verdict.
    """
    kind, families = kinds.DISCRIMINATION_STANDARDISED.difference(), Families()
    for one, other in combinations(filter(None, (_in_spreads(model, spreads) for model in models)), 2):
        pair, names = one.place.language_pair, (one.place.scorer, other.place.scorer)
        if pair != other.place.language_pair or not np.array_equal(one.keys, other.keys):
            continue
        drawn = one.numbers["discrimination"] - other.numbers["discrimination"]
        place = {"language_pair": pair, "scorer": names[0], "other": names[1]}
        family = (pair, " − ".join(names), "discrimination of two models")
        families.add(family, measured(kind, drawn, one.n, **place), paired_test(one, other, "discrimination"))
    return families.judge()


def _in_spreads(model: Probed, spreads: Mapping[tuple[str | None, str], float]) -> Cell | None:
    """A model's discrimination in standard deviations of its scores."""
    cell, spread = model.discrimination(), spreads.get((model.place.language_pair, model.place.scorer), 0.0)
    if cell is None or not spread > 0:
        return None
    cell.numbers = {
        name: Resampled(drawn.value / spread, drawn.values / spread) for name, drawn in cell.numbers.items()
    }
    cell.contributions = {name: parts / spread for name, parts in cell.contributions.items()}
    return cell


Drawn = Mapping[tuple[str, str | None, str], Array]
"""What a measure of a model is on every resample, by measure, language pair and model."""


def resampled_values(
    models: Sequence[Probed], spreads: Mapping[tuple[str | None, str], float], agreement: Sequence[Cell]
) -> Drawn:
    """Both measures that models are ranked by, on the same resamples of the segments."""
    found: dict[tuple[str, str | None, str], Array] = {
        ("pearson", cell.place.language_pair, cell.place.scorer): cell.numbers["pearson"].values
        for cell in agreement
        if "pearson" in cell.numbers
    }
    for model in models:
        place = model.place.language_pair, model.place.scorer
        if (cell := model.discrimination()) is not None:
            found["discrimination", *place] = cell.numbers["discrimination"].values
        if (cell := _in_spreads(model, spreads)) is not None:
            found["discrimination_standardised", *place] = cell.numbers["discrimination"].values
    return found


def ranking_results(measures: Sequence[Measure], seed: int, drawn: Drawn) -> list[Measure]:
    """Rank of each model by each of the measures, and how the rankings agree, with the interval over resamples."""
    found: list[Measure] = []
    for pair in dict.fromkeys(measure.language_pair for measure in measures):
        values = {name: _values(measures, name, pair) for name in RANKS}
        for name, (kind, _) in RANKS.items():
            known = values[name]
            for scorer, value in sorted(known.items(), key=lambda item: -item[1]):
                rank = 1.0 + sum(other > value for other in known.values())
                found.append(Measure(kind, rank, len(known), language_pair=pair, scorer=scorer))
        for name, (_, agreement) in RANKS.items():
            shared = [scorer for scorer in values[name] if scorer in values["pearson"]]
            if agreement is not None and len(shared) > 2:
                one, other = (np.array([values[by][scorer] for scorer in shared]) for by in (name, "pearson"))
                tau, p = rank_agreement(one, other, seed)
                taus = resampled_agreement(drawn, name, pair, shared)
                found.append(replace(measured(agreement, Resampled(tau, taus), len(shared), language_pair=pair), p=p))
    return found


def resampled_agreement(drawn: Drawn, name: str, pair: str | None, scorers: Sequence[str]) -> Array:
    """Kendall's τ of the ranking by a measure with that by Pearson, on every resample."""
    tables = [
        [drawn[by, pair, scorer] for scorer in scorers if (by, pair, scorer) in drawn] for by in (name, "pearson")
    ]
    least = min((len(values) for table in tables for values in table), default=0)
    if any(len(table) < len(scorers) for table in tables) or not least:
        return np.zeros(0)
    one, other = (np.array([values[:least] for values in table]).T for table in tables)
    return tau_b(one, other)


def _values(measures: Sequence[Measure], name: str, pair: str | None) -> dict[str, float]:
    """Scorer → value of a measure over all texts of a language pair."""
    return {
        measure.scorer or "": measure.value
        for measure in measures
        if measure.kind.name == name and measure.language_pair == pair
        if measure.value is not None and np.isfinite(measure.value)
    }
