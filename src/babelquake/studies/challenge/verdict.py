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
        test = None
        if len(ends) > 1:
            found = results.between(RANKED, "scorer", ends[0]["scorer"], ends[1]["scorer"], language_pair=pair)
            test = Number.of(found) if found else None
        elif what == "ranks_worst":
            continue
        numbers = tuple(map(Number.of, ends))
        yield Finding(what=what, weight="answer", who=ends[0]["scorer"], language_pair=pair, numbers=numbers, test=test)
