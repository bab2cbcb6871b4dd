"""The cells of a finished run, worked out again from its tables: what comparisons between runs need."""

from collections.abc import Callable
from contextlib import suppress

import polars as pl

from babelquake.errors import UserError
from babelquake.runs.run import Run
from babelquake.scorers import Scorer
from babelquake.scorers import scorer as scorer_of
from babelquake.studies.cells import Cell, Place
from babelquake.studies.correlate.agreements import agreement_cell, judgements
from babelquake.studies.metric.agreement import noise_cells
from babelquake.studies.metric.challenge import challenge_cells
from babelquake.studies.metric.sensitivity import sensitivity_cells
from babelquake.studies.mt.results import mt_cells
from babelquake.studies.qe.discrimination import probed_models

Cells = Callable[[Run, list[Scorer], int, int], list[Cell]]


def stored_cells(run: Run, resamples: int, seed: int) -> list[Cell]:
    """Every cell that the run's tables allow; none for studies that keep no statistics.

    Scorers are asked for their formula only. One that cannot be made here, because its file is elsewhere say, has no
    cells.
    """
    make = BY_STUDY.get(run.info.study)
    if make is None:
        return []
    scorers = []
    for name in run.info.listed("scorer"):
        with suppress(UserError):
            scorers.append(scorer_of(name))
    return make(run, scorers, resamples, seed)


def _mt(run: Run, scorers: list[Scorer], resamples: int, seed: int) -> list[Cell]:
    return mt_cells(run.scan("scores"), run.scan("translations"), scorers, resamples, seed)


def _metric(run: Run, scorers: list[Scorer], resamples: int, seed: int) -> list[Cell]:
    """By the question that the run answers."""
    mode = next(iter(run.info.facts.modes), "sensitivity")
    if mode == "challenge":
        return list(challenge_cells(run.scores, run.segments, resamples, seed))
    sums = run.scan("sums")
    if mode == "sensitivity":
        return list(sensitivity_cells(sums, run.segments, scorers, resamples, seed))
    changes = sums.filter(pl.col("perturbation").is_not_null()).select("perturbation", "level")
    wanted = changes.unique(maintain_order=True).collect().rows()
    given, threshold = judgements(run.segments, None), run.info.number("threshold", 25.0)
    return list(noise_cells(given, run.segments.height, sums, scorers, wanted, resamples, seed, threshold))


def _qe(run: Run, scorers: list[Scorer], resamples: int, seed: int) -> list[Cell]:
    """Discrimination on the probed segments."""
    titles = {label: {"meaning": some.meaning, "title": some.title} for label, some in run.info.facts.probes.items()}
    models = probed_models(run.scan("sums"), run.segments, scorers, titles, resamples, seed)
    return [cell for model in models if (cell := model.discrimination()) is not None]


def _correlate(run: Run, scorers: list[Scorer], resamples: int, seed: int) -> list[Cell]:
    """Agreements that are functions of sums over segments."""
    cells = []
    for given in judgements(run.segments, None):
        for scorer in scorers:
            values = run.scores.filter(pl.col("scorer") == scorer.name)["score"].to_numpy()[given.rows]
            values = values if scorer.higher_is_better else -values
            place = Place(given.language_pair, scorer.name)
            cells.append(
                agreement_cell(
                    place,
                    given,
                    values,
                    ("kendall_like", "pearson", "accuracy"),
                    resamples=resamples,
                    seed=seed,
                    threshold=run.info.number("threshold", 25.0),
                )
            )
    return cells


BY_STUDY: dict[str, Cells] = {"mt": _mt, "metric": _metric, "qe": _qe, "correlate": _correlate}
