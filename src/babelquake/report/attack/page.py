"""The attack study's page: who falls for what, how little it takes, and whether the others fall for it too."""

from babelquake.report.attack.charts import attack_views
from babelquake.report.attack.examples import EXAMPLES
from babelquake.report.attack.tables import attack_tables
from babelquake.report.page import Page
from babelquake.runs.run import Run

QUESTIONS = {
    "inflate": "Which small edits make this metric score far too high?",
    "inconsistent": "Which small edits does this metric judge inconsistently?",
    "collapse": "Which small edits of a source make this system's translation collapse?",
}


def attack_question(run: Run) -> str | None:
    """What was searched for, where it is not what the study searches as a rule."""
    return QUESTIONS.get(_goal(run)[0])


def _goal(run: Run) -> tuple[str, str]:
    """The goal's name and its options."""
    name, _, options = str(run.info.config.get("goal", "")).partition("[")
    return name, options.rstrip("]")


PAGE = Page(attack_tables, attack_views, EXAMPLES, compared=("success",), question=attack_question)
