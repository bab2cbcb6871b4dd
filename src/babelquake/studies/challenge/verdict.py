"""What a challenge set found: who ranks better translations first most often, who least, and who does not look."""

from collections.abc import Iterator, Set

import polars as pl

from babelquake.runs.findings import Finding, Number
from babelquake.runs.results import Results, Row, values
from babelquake.runs.run import Run

RANKED = "outranks_all"
TIED = 1e-4
"""Standard deviations up to which two scores are equal: batches and half precision move a number that far."""
MOST_TIED = 0.95
"""Share of pairs with equal scores above which a metric does not look at the translation."""


def challenge_findings(run: Run) -> list[Finding]:
    """Per language pair the best and the worst metric, with the tests of worst against next and best against next."""
    results = Results.of(run)
    rows = [row for row in results.known(RANKED) if row["perturbation"] is None and row["group"] is None]
    tied = run.table("pairs").group_by("language_pair", "scorer").agg((pl.col("gap").abs() <= TIED).mean())
    blind = {(pair, scorer) for pair, scorer, share in tied.rows() if share > MOST_TIED}
    return [found for pair in values(rows, "language_pair") for found in _about(results, rows, pair, blind)]


def _about(
    results: Results, rows: list[Row], pair: str | None, blind: Set[tuple[str | None, str]]
) -> Iterator[Finding]:
    here = [row for row in rows if row["language_pair"] == pair]
    same = [row for row in here if (pair, row["scorer"]) in blind]
    if same:
        numbers = tuple(map(Number.of, same))
        yield Finding(what="does_not_look", who=same[0]["scorer"], language_pair=pair, numbers=numbers)
    ranked = sorted((row for row in here if row not in same), key=lambda row: float(row["value"]))
    if not ranked:
        return
    for what, ends in (("ranks_worst", ranked), ("ranks_best", ranked[::-1])):
        level = [row for row in ends if float(row["value"]) == float(ends[0]["value"])]
        if what == "ranks_worst" and len(level) == len(ends):
            continue
        test = _surely(results, level, ends[len(level)], pair) if len(level) < len(ends) else None
        yield Finding(
            what=what,
            weight="answer",
            who=ends[0]["scorer"],
            language_pair=pair,
            numbers=tuple(map(Number.of, ends)),
            test=test,
            facts={"level": len(level)},
        )


def _surely(results: Results, level: list[Row], following: Row, pair: str | None) -> Number | None:
    """The least certain of the tests of metrics that are level against the one that follows."""
    tests = [results.between(RANKED, "scorer", row["scorer"], following["scorer"], language_pair=pair) for row in level]
    found = [Number.of(test) for test in tests if test]
    if len(found) < len(level):
        return None
    return max(found, key=lambda one: 2.0 if one.p is None or not one.tested else one.p)
