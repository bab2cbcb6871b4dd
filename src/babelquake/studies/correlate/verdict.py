"""What a run of `correlate` found: who agrees best with people, and who agrees significantly less than that."""

from collections.abc import Iterator

from babelquake.runs.findings import Finding, Number
from babelquake.runs.results import STATISTICS, Results, values
from babelquake.runs.run import Run
from babelquake.studies.judge_reliability import judge_findings


def correlate_findings(run: Run) -> list[Finding]:
    """Per language pair, by the first statistic that the field speaks of."""
    results = Results.of(run)
    measure = next((name for name in STATISTICS if results.known(name)), None)
    pairs = values(results.known(measure), "language_pair") if measure is not None else []
    found = [finding for pair in pairs for finding in _about(results, str(measure), pair)]
    return [*found, *judge_findings(results)]


def _about(results: Results, measure: str, pair: str | None) -> Iterator[Finding]:
    """The leader and whoever comes next, with the test of their difference; then all that are significantly behind."""
    rows = sorted(results.known(measure, language_pair=pair), key=lambda row: -float(row["value"]))
    first, *others = rows
    tests = {
        row["scorer"]: Number.of(found)
        for row in others
        if (found := results.between(measure, "scorer", first["scorer"], row["scorer"], language_pair=pair))
    }
    second = others[0]["scorer"] if others else None
    alike = [row for row in rows if row["value"] == first["value"]]
    if len(alike) > 1:
        yield Finding.on("agree_alike", *alike, weight="answer")
        return
    yield Finding.on("agrees_best", *rows, weight="answer", test=tests.get(second) if second else None)
    for row in others[1:]:
        if (test := tests.get(row["scorer"])) is not None and test.significant:
            yield Finding.on("agrees_less", row, first, test=test)
