"""What ratings say, wherever they come from: a project file, or anything the field exports."""

from dataclasses import replace
from pathlib import Path

import polars as pl

from babelquake.annotate.collected import COUNTED, LEAST, collected
from babelquake.annotate.project import Project, is_project
from babelquake.data.ratings import Ratings, read_ratings
from babelquake.errors import UserError, setting
from babelquake.runs.measures import ALPHA
from babelquake.studies.human import HumanOptions
from babelquake.studies.human.findings import Findings, findings, for_attack
from babelquake.studies.human.study import plan


def analyse(
    source: str | Path,
    *,
    exclude: str | None = None,
    least: int | None = None,
    language_pair: str | None = None,
    alpha: float = ALPHA,
    power: float = 0.8,
) -> tuple[Ratings, Findings]:
    """Ratings and what they say.

    A project's ratings are taken as Huang 2023 took theirs: failed tasks out, three ratings or more. Others as WMT did:
    published ratings have passed their campaign's quality control already, so nothing is taken out of them unasked.
    """
    if is_project(source):
        ratings = _of_pair(collected(Project(source)), language_pair)
        return ratings, findings(
            ratings, exclude=exclude or "hits", least=least or LEAST, counted=COUNTED, alpha=alpha, power=power
        )
    ratings = _of_pair(read_ratings(source), language_pair)
    return ratings, findings(ratings, exclude=exclude or "none", least=least or 1, alpha=alpha, power=power)


def forecast(source: str | Path, language_pair: str | None = None) -> dict[str, int | float | str]:
    """How much there is to analyse and how long that takes, from a sample of the ratings; nothing is written."""
    read = collected(Project(source)) if is_project(source) else read_ratings(source)
    ratings = _of_pair(read, language_pair)
    frame = ratings.frame
    counted = {name: frame[name].drop_nulls().n_unique() for name in ("annotator", "system", "segment")}
    seconds = plan(HumanOptions(data=ratings)).forecast().seconds or 0.0
    return {"name": ratings.name, "ratings": frame.height, **counted, "seconds": seconds}


def tuple_ratings(project: str | Path) -> pl.DataFrame:
    """What a project says of original and perturbed translations, as the attack study takes it."""
    return for_attack(analyse(project)[1].segments)


def _of_pair(ratings: Ratings, language_pair: str | None) -> Ratings:
    """The ratings of one language pair, where one is asked for."""
    if language_pair is None:
        return ratings
    known = ratings.frame["language_pair"].unique(maintain_order=True).drop_nulls().to_list()
    if language_pair not in known:
        has = f"has {', '.join(known)}" if known else "does not name any language pair"
        raise UserError(f"{setting('language_pair', language_pair)}: {ratings.name} {has}.")
    return replace(ratings, frame=ratings.frame.filter(pl.col("language_pair") == language_pair))
