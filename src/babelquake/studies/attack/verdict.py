"""What an attack run found: who falls for what, whether the others fall for it too, and what people say."""

from collections.abc import Iterator

from babelquake.runs.findings import Finding, Number
from babelquake.runs.measures import CANNOT_BE_TESTED
from babelquake.runs.results import Results, Row, values
from babelquake.runs.run import Run


def attack_findings(run: Run) -> list[Finding]:
    """Per victim the recipe that works best; then transfer, and what people say."""
    results = Results.of(run)
    rows = results.known("success", group=None)
    victims = [
        _victim(run, results, [row for row in rows if row["scorer"] == victim]) for victim in values(rows, "scorer")
    ]
    return [*victims, *_transfer(results), *_people(results)]


def _victim(run: Run, results: Results, rows: list[Row]) -> Finding:
    """How often the best recipe meets the goal; a victim that withstood all did so within the questions asked."""
    best = max(rows, key=lambda row: float(row["value"]))
    words = results.one("words_changed", scorer=best["scorer"], perturbation=best["perturbation"])
    numbers = [best, *(row for row in rows if row is not best)]
    numbers += [words] if words and words["value"] is not None else []
    facts: dict[str, float | str] = {"goal": str(run.info.config.get("goal", ""))}
    if (most := run.info.number("max_queries", 0)) > 0:
        facts["questions"] = most
    return Finding(
        what="fooled" if best["changed"] else "withstood",
        weight="answer",
        who=best["scorer"],
        perturbation=best["perturbation"],
        numbers=tuple(map(Number.of, numbers)),
        facts=facts | {"errors": float(best["scorer"] in run.info.facts.lower_is_better)},
    )


def _transfer(results: Results) -> Iterator[Finding]:
    """What fools one metric and another one too: where most, and where least."""
    rows = [row for row in results.known("transfer", perturbation=None) if row["other"] != row["scorer"] and row["n"]]
    if rows:
        rows.sort(key=lambda row: -float(row["value"]))
        ends = [rows[0], rows[-1]] if len(rows) > 1 else rows
        yield Finding(what="transfer", who=rows[0]["scorer"], numbers=tuple(map(Number.of, ends)))


def _people(results: Results) -> Iterator[Finding]:
    """In how many cells metrics go further than people, of those that can be tested."""
    for cells in results.where("cells_overpenalised"):
        few = sum(row["verdict"] == CANNOT_BE_TESTED for row in results.where("overpenalised"))
        yield Finding(what="further_than_people", numbers=(Number.of(cells),), facts={"untested": few})
