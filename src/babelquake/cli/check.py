"""`babelquake check`: a study's command, and after it a gate and JUnit XML for build servers."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from babelquake.cli.options import option
from babelquake.cli.studying import study_command
from babelquake.studies.check.options import CheckOptions

if TYPE_CHECKING:
    from babelquake.runs.run import Run

FAIL_ON = Annotated[
    list[str] | None,
    option("--fail-on", "KIND[>RATE]", "Exit with status 1 if a kind occurs, or in over RATE per cent; repeatable."),
]
JUNIT = Annotated[Path | None, option("--junit", "FILE", "Write failures as JUnit XML, for build servers.")]


def check_command() -> Callable[..., None]:
    """The command with the options of its study, and those of what comes after the run."""

    def before(asked: CheckOptions, fail_on: list[str] | None, junit: Path | None) -> bool:
        from babelquake.studies.check.study import limited

        for limit in fail_on or ():
            limited(limit)
        return False

    def afterwards(run: "Run", fail_on: list[str] | None, junit: Path | None) -> None:
        if junit is not None:
            from babelquake.report.junit import write_junit

            write_junit(run, junit)
        if fail_on:
            from babelquake.studies.check.study import require

            require(run, fail_on)

    return study_command("check", CheckOptions, afterwards, {"fail_on": FAIL_ON, "junit": JUNIT}, before)
