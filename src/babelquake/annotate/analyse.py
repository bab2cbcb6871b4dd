"""What ratings say, wherever they come from: a project file, or anything the field exports."""

from pathlib import Path

from babelquake.annotate.collected import COUNTED, LEAST, collected
from babelquake.annotate.project import Project, is_project
from babelquake.data.ratings import read_ratings
from babelquake.studies.human.findings import Findings, findings
from babelquake.studies.human.quality import ALPHA


def analyse(
    source: str | Path,
    *,
    exclude: str | None = None,
    least: int | None = None,
    alpha: float = ALPHA,
    power: float = 0.8,
) -> Findings:
    """A project as Huang 2023 did it: failed tasks out, three ratings or more; other ratings as WMT did: all count.

    Published ratings have passed their campaign's quality control already, so nothing is taken out of them unasked.
    """
    if is_project(source):
        ratings = collected(Project(source))
        return findings(
            ratings, exclude=exclude or "hits", least=least or LEAST, counted=COUNTED, alpha=alpha, power=power
        )
    return findings(read_ratings(source), exclude=exclude or "none", least=least or 1, alpha=alpha, power=power)
