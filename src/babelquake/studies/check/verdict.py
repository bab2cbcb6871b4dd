"""What a `check` run found, as data: how many translations have a failure, of which kinds, and whose."""

from babelquake.runs.findings import Finding, Number
from babelquake.runs.results import Results, Row, values
from babelquake.runs.run import Run

ANY = "any"
MOST_NAMED = 3
"""Kinds that the verdict names."""


def of_systems(results: Results, pair: str | None, **key: object) -> list[Row]:
    """Rates of single systems over all parts of the data; of all together where none has a name."""
    rows = results.where("failures", language_pair=pair, group=None, **key)
    return [row for row in rows if row["system"] is not None] or rows


def flagged(rows: list[Row]) -> int:
    """How many translations are behind some rates."""
    return sum(round(row["value"] * row["n"] / 100) for row in rows)


def check_findings(run: Run) -> list[Finding]:
    """Per language pair the share with a failure, the commonest kinds, the systems with the most and the fewest."""
    results = Results.of(run)
    found = []
    for pair in values(results.where("failures"), "language_pair"):
        overall = of_systems(results, pair, scorer=ANY)
        kinds = {
            kind: flagged(of_systems(results, pair, scorer=kind))
            for kind in values(results.where("failures", language_pair=pair), "scorer")
            if kind != ANY
        }
        first = sorted((kind for kind, count in kinds.items() if count), key=lambda kind: -kinds[kind])[:MOST_NAMED]
        ranked = sorted(overall, key=lambda row: -row["value"])
        facts: dict[str, float | str] = {"translations": sum(row["n"] for row in overall), "flagged": flagged(overall)}
        facts |= {f"kind:{kind}": kinds[kind] for kind in first}
        numbers = tuple(Number.of(row) for row in ranked)
        found.append(Finding(what="failures", weight="answer", language_pair=pair, numbers=numbers, facts=facts))
    return found
