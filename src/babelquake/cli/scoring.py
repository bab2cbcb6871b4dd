"""`babelquake metric` and `babelquake qe`: a study's command, and after it a gate on what scorers must reach."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from babelquake.cli.options import option
from babelquake.cli.studying import study_command
from babelquake.studies.options import StudyOptions

if TYPE_CHECKING:
    from babelquake.runs.run import Run

REQUIRE = Annotated[
    list[str] | None,
    option("--require", "LIMIT", "Exit with status 1 unless met, such as 'pitfalls_failed <= 0'; repeatable."),
]


SUBMIT = Annotated[
    Path | None,
    option("--submit", "DIR", "Write .seg.score and .sys.score as mt-metrics-eval reads them to DIR, and stop."),
]


def scoring_command(study: str, options: type[StudyOptions]) -> Callable[..., None]:
    """The command with the options of its study, requirements to the run, and scores for a shared task in its place."""

    def instead(asked: StudyOptions, require: list[str] | None, submit: Path | None) -> bool:
        from babelquake.studies.requirement import Requirement

        for limit in require or ():
            Requirement.parse(limit)
        if submit is None:
            return False
        from babelquake.studies.submission import submit_scores

        with asked.settings():
            for path in submit_scores(asked, submit):
                typer.echo(str(path))
        return True

    def afterwards(run: "Run", require: list[str] | None, submit: Path | None) -> None:
        from babelquake.studies.requirement import require_of

        require_of(run.measures.to_dicts(), require or ())

    return study_command(study, options, afterwards, {"require": REQUIRE, "submit": SUBMIT}, instead)
