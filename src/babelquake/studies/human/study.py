"""The study `human`: what ratings say, as a run folder."""

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from babelquake.data import Dataset
from babelquake.data.ratings import COUNTED, Ratings, read_ratings
from babelquake.runs.measures import kinds_in
from babelquake.runs.run import Run
from babelquake.signature import run_signature
from babelquake.studies.card import Study
from babelquake.studies.forecast import Unasked
from babelquake.studies.human import kinds
from babelquake.studies.human.findings import TABLES, Findings, findings
from babelquake.studies.human.measures import human_measures
from babelquake.studies.human.options import HumanOptions
from babelquake.studies.human.verdict import human_findings
from babelquake.studies.options import takes
from babelquake.studies.plan import Plan
from babelquake.studies.session import Held
from babelquake.text import digest

HUMAN = Study(
    "human",
    HumanOptions,
    question="What do people say about these translations?",
    measures=kinds_in(kinds),
    findings=human_findings,
    plan=lambda options: plan(options),
)
TIMED = 2000
"""Ratings that a forecast analyses to know how long all of them take."""


def plan(options: HumanOptions) -> Plan:
    """Analyse what people said; nobody is asked, so that the time is that of a sample."""
    ratings = _ratings(options)
    rated = ratings.frame if ratings.means is None else ratings.means

    def local() -> Iterable[Unasked]:
        sample = replace(ratings, frame=ratings.frame.head(TIMED))
        started = time.process_time()
        findings(sample, exclude=options.exclude, least=options.least)
        seconds = (time.process_time() - started) * max(1.0, ratings.frame.height / TIMED)
        work = "quality control, agreement and ranking"
        yield Unasked(work, None, False, rated.height, None, None, seconds, what="ratings")

    segments = rated.unique(["language_pair", "segment"], maintain_order=True)
    data = Dataset(ratings.name, segments, notes=tuple(ratings.notes))
    return Plan("human", options, data, (), local=local, notes=data.notes)


@takes(HumanOptions)
def human(options: HumanOptions) -> Run:
    """Quality control, means, agreement, ranking and power of ratings, kept as a run with its own report."""
    ratings = _ratings(options)
    found = findings(
        ratings,
        exclude=options.exclude,
        least=options.least,
        counted=options.counted or COUNTED,
        alpha=options.alpha,
        power=options.power,
    )
    return keep(found, ratings, options)


def _ratings(options: HumanOptions) -> Ratings:
    given: Any = options.data
    return given if isinstance(given, Ratings) else read_ratings(given)


def keep(found: Findings, ratings: Ratings, options: HumanOptions) -> Run:
    """Findings as a run folder: their tables, their measures, and how they were made."""
    mark = digest([ratings.frame.write_csv(), ratings.means.write_csv() if ratings.means is not None else ""])
    made_with = {"exclude": found.facts.exclude, "least": found.facts.least}
    signature = run_signature(data=mark, **made_with)
    with Held(HUMAN.name, options, data=f"{ratings.name}#{mark}", **made_with) as session:
        for name in ("ratings", *TABLES):
            table = getattr(found, name)
            session.once(name, lambda table=table: table)  # type: ignore[misc]
        session.say(*found.notes)
        return session.signed(human_measures(found), lambda measure: signature)
