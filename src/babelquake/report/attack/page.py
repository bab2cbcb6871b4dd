"""The attack study's page: who falls for what, how little it takes, and whether the others fall for it too."""

from babelquake.report.attack.charts import attack_views
from babelquake.report.attack.examples import EXAMPLES
from babelquake.report.attack.tables import attack_tables
from babelquake.report.page import Page
from babelquake.report.results import Results, Row, scorer_text, values
from babelquake.runs.measures import CANNOT_BE_TESTED
from babelquake.runs.run import Run

PHRASES = {
    "overpenalise": "can be made to {worse} by more than {by} standard deviations",
    "inflate": "can be made to {better} by more than {by} standard deviations",
    "inconsistent": "can be made to contradict itself",
    "collapse": "can be made to translate something else",
}
QUESTIONS = {
    "inflate": "Which small edits make this metric score far too high?",
    "inconsistent": "Which small edits does this metric judge inconsistently?",
    "collapse": "Which small edits of a source make this system's translation collapse?",
}


def attack_question(run: Run) -> str | None:
    """What was searched for, where it is not what the study searches as a rule."""
    return QUESTIONS.get(_goal(run)[0])


def attack_verdict(run: Run) -> list[str]:
    """Per victim the recipe that works best; then transfer, lengths and what people say."""
    results = Results.of(run)
    rows = results.known("success", group=None)
    victims = values(rows, "scorer")
    sentences = [_victim(run, results, [row for row in rows if row["scorer"] == victim], victims) for victim in victims]
    return [*sentences, *_transfer(results, victims), *_humans(results)]


def _victim(run: Run, results: Results, rows: list[Row], victims: list[str]) -> str:
    best = max(rows, key=lambda row: row["value"])
    name = scorer_text(best["scorer"], victims)
    if not best["changed"]:
        tried = " and ".join(row["perturbation"] for row in rows) if len(rows) < 3 else f"{len(rows)} recipes"
        most = run.info.config.get("max_queries")
        within = f" within {most} questions each" if most else ""
        return f"{name} withstood {tried}{within}: no eligible perturbation of {best['n']} sentences."
    goal, options = _goal(run)
    by = next((part.partition("=")[2] for part in options.split(",") if part.startswith("by=")), "1")
    ways = ("rise", "fall") if best["scorer"] in run.info.facts.lower_is_better else ("fall", "rise")
    phrase = (
        PHRASES.get(goal, "fails")
        .format(by=f"{float(by):g}", worse=ways[0], better=ways[1])
        .replace("1 standard deviations", "one standard deviation")
    )
    said = f"{name} {phrase} in {best['value']:.0f} % of {best['n']} sentences ({best['perturbation']}"
    words = results.one("words_changed", scorer=best["scorer"], perturbation=best["perturbation"])
    if words and words["value"] is not None:
        said += f", {words['value']:g} word{'s' if words['value'] != 1 else ''} changed in the median"
    said += ")"
    others = [row for row in rows if row is not best]
    if others:
        worst = min(others, key=lambda row: row["value"])
        said += f"; {worst['perturbation']} manages {worst['value']:.0f} %"
    return said + "."


def _goal(run: Run) -> tuple[str, str]:
    """The goal's name and its options."""
    name, _, options = str(run.info.config.get("goal", "")).partition("[")
    return name, options.rstrip("]")


def _transfer(results: Results, victims: list[str]) -> list[str]:
    rows = [row for row in results.where("transfer", perturbation=None) if row["other"] != row["scorer"] and row["n"]]
    if not rows:
        return []
    most, least = max(rows, key=lambda row: row["value"]), min(rows, key=lambda row: row["value"])
    said = f"{most['value']:.0f} % of what fools {scorer_text(most['scorer'], victims)} fools "
    said += scorer_text(most["other"], victims)
    if least is not most:
        said += f" too; of what fools {scorer_text(least['scorer'], victims)}, {least['value']:.0f} % fools "
        said += scorer_text(least["other"], victims)
    return [said + "."]


def _humans(results: Results) -> list[str]:
    found = results.where("cells_overpenalised")
    if not found:
        return []
    (cells,) = found
    few = sum(row["verdict"] == CANNOT_BE_TESTED for row in results.where("overpenalised"))
    if not cells["n"]:
        return ["Whether the metrics go further than people cannot be tested: too few perturbations are rated."]
    return [
        f"People agree that the metrics go too far in {cells['changed']} of {cells['n']} combinations of metric, "
        f"attack and group (one-sided rank-sum, p < .05){f'; {few} cannot be tested' if few else ''}."
    ]


PAGE = Page(attack_tables, attack_verdict, attack_views, EXAMPLES, compared=("success",), question=attack_question)
