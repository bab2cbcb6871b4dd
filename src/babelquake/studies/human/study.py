"""The study `human`: what ratings say, as a run folder."""

from typing import Any

from babelquake.data.ratings import COUNTED, Ratings, read_ratings
from babelquake.runs.measures import kinds_in
from babelquake.runs.run import Run
from babelquake.signature import run_signature
from babelquake.studies.card import Study
from babelquake.studies.human import kinds
from babelquake.studies.human.findings import TABLES, Findings, findings
from babelquake.studies.human.measures import human_measures
from babelquake.studies.human.options import HumanOptions
from babelquake.studies.human.verdict import human_findings
from babelquake.studies.options import takes
from babelquake.studies.session import Held
from babelquake.text import digest

HUMAN = Study(
    "human",
    HumanOptions,
    question="What do people say about these translations?",
    measures=kinds_in(kinds),
    findings=human_findings,
)


@takes(HumanOptions)
def human(options: HumanOptions) -> Run:
    """Quality control, means, agreement, ranking and power of ratings, kept as a run with its own report."""
    ratings: Any = options.data
    if not isinstance(ratings, Ratings):
        ratings = read_ratings(ratings)
    found = findings(
        ratings,
        exclude=options.exclude,
        least=options.least,
        counted=options.counted or COUNTED,
        alpha=options.alpha,
        power=options.power,
    )
    return keep(found, ratings, options)


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
