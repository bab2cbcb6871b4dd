"""The study `human`: what ratings say, as a run folder."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from babelquake.data.ratings import COUNTED, Ratings, read_ratings
from babelquake.runs.measures import kinds_in
from babelquake.runs.run import Run
from babelquake.signature import run_signature
from babelquake.studies.card import Study
from babelquake.studies.human import kinds
from babelquake.studies.human.findings import TABLES, Findings, findings
from babelquake.studies.human.measures import human_measures
from babelquake.studies.human.quality import ALPHA
from babelquake.studies.session import Held
from babelquake.text import digest

HUMAN = Study("human", question="What do people say about these translations?", measures=kinds_in(kinds))


def human(
    data: Ratings | str | Path | pl.DataFrame,
    *,
    out: Path | str,
    exclude: str = "none",
    least: int = 1,
    counted: Sequence[str] = COUNTED,
    alpha: float = ALPHA,
    power: float = 0.8,
    restart: bool = False,
) -> Run:
    """Quality control, means, agreement, ranking and power of ratings, kept as a run with a report of its own."""
    ratings = data if isinstance(data, Ratings) else read_ratings(data)
    found = findings(ratings, exclude=exclude, least=least, counted=counted, alpha=alpha, power=power)
    return keep(found, ratings, out, alpha=alpha, power=power, restart=restart)


def keep(
    found: Findings,
    ratings: Ratings,
    out: Path | str,
    *,
    alpha: float = ALPHA,
    power: float = 0.8,
    restart: bool = False,
) -> Run:
    """Findings as a run folder: their tables, their measures, and how they were made."""
    mark = digest([ratings.frame.write_csv(), ratings.means.write_csv() if ratings.means is not None else ""])
    config = {
        "data": f"{ratings.name}#{mark}",
        "exclude": found.facts.exclude,
        "least": found.facts.least,
        "alpha": alpha,
        "power": power,
    }
    signature = run_signature(data=mark, exclude=found.facts.exclude, least=found.facts.least)
    with Held(HUMAN.name, out, config, restart) as session:
        for name in ("ratings", *TABLES):
            table = getattr(found, name)
            session.once(name, lambda table=table: table)  # type: ignore[misc]
        session.say(*found.notes)
        return session.signed(human_measures(found), lambda measure: signature)
