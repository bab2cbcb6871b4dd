"""`babelquake metric` and `babelquake qe`: a study's command, and after it a gate on what scorers must reach."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from babelquake.cli.options import option
from babelquake.cli.studying import study_command
from babelquake.studies.options import StudyOptions

if TYPE_CHECKING:
    from babelquake.runs.run import Run

REQUIRE = Annotated[
    list[str] | None,
    option("--require", "LIMIT", "Exit with status 1 unless met, such as 'pitfalls_failed <= 0'; repeatable."),
]


def scoring_command(study: str, options: type[StudyOptions]) -> Callable[..., None]:
    """The command with the options of its study, and requirements to the run."""

    def afterwards(run: "Run", require: list[str] | None) -> None:
        from babelquake.studies.requirement import require_of

        require_of(run.measures.to_dicts(), require or ())

    return study_command(study, options, afterwards, {"require": REQUIRE})
