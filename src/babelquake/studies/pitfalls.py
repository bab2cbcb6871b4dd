"""The card of a scorer: does it do what an ideal one would, change by change? For suites that say what is expected.

Per change and segment the score is compared with that of the text as it is, or of another change of it. `below` wants
a lower score; `same`, `not below` and `not above` allow for a small effect, a fifth of the standard deviation of the
scorer's scores of unchanged texts (Cohen 1988). A scorer passes where it does so in all but `tolerance` per cent of the
segments, fails where it surely does not, and is undecided where the interval reaches both sides or segments are few.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import numpy as np
import polars as pl

from babelquake.perturb.suite import Expectation, Suite
from babelquake.runs.findings import Finding, Number
from babelquake.runs.info import Expected
from babelquake.runs.measures import Measure, Results, Row, apart
from babelquake.runs.run import Run
from babelquake.runs.tables import same
from babelquake.scorers.base import Array
from babelquake.stats.resampling import Keys, unit_means
from babelquake.studies.cells import LEAST_CHANGED, Scored, average, share
from babelquake.studies.kinds import pitfalls as kinds

SMALL = 0.2
"""Standard deviations of a scorer's scores that count as the same."""
Outcome = Literal["pass", "fail", "undecided", "too few", "not tested"]
UNTOUCHED = "the data give it nothing to change."


def expected(suite: Suite) -> dict[str, Expected]:
    """What a suite expects of each change, as a run keeps it."""
    return {label: Expected(rule=one.rule, than=one.than, level=one.level) for label, one in suite.expectations.items()}


def pitfall_measures(scored: Scored, suite: Suite, tolerance: float) -> list[Measure]:
    """Per scorer and change the share of segments as expected, how many pitfalls that passes, and effects of length."""
    if not suite.expectations:
        return []
    found: list[Measure] = []
    for scorer in scored.scorers:
        columns = ["row", "language_pair", "perturbation", "level", "score", "changed"]
        mine = scored.by(scorer).select(columns).collect()
        for (pair,), part in mine.group_by("language_pair", maintain_order=True):
            place: dict[str, Any] = {"language_pair": pair, "scorer": scorer.name}
            here = [*_shares(part, scorer.sign, suite, scored.keys, place)]
            outcomes = [outcome_of(one.value, one.high, one.n, tolerance) for one in here if one.kind is kinds.PITFALL]
            tested = sum(outcome != "not tested" for outcome in outcomes)
            found += here
            found.append(Measure(kinds.PITFALLS_PASSED, outcomes.count("pass"), tested, **place))
            found.append(Measure(kinds.PITFALLS_FAILED, outcomes.count("fail"), tested, **place))
    return found


def outcome_of(value: float | None, high: float | None, n: int | None, tolerance: float) -> Outcome:
    """Whether a share of segments as expected passes: in per cent, with the upper end of its interval."""
    if value is None or high is None or not n:
        return "not tested"
    if high < 100 - tolerance:
        return "fail"
    if n < LEAST_CHANGED:
        return "too few"
    return "pass" if value >= 100 - tolerance else "undecided"


def _shares(part: pl.DataFrame, sign: float, suite: Suite, keys: Keys, place: Mapping[str, Any]) -> Iterator[Measure]:
    """One share per change, over the segments that it really changed; then what length alone does."""
    clean = part.filter(pl.col("perturbation").is_null())["score"].drop_nans()
    spread = float(clean.std() or 0.0)  # type: ignore[arg-type]
    for perturbation in suite.perturbations:
        expectation = suite.expectations.get(perturbation.label)
        if expectation is None:
            continue
        where = {**place, "perturbation": perturbation.label, "level": perturbation.level}
        baseline = expectation.baseline(perturbation.level)
        itself = baseline == perturbation.cell
        rows, moved = _moved(part, perturbation.cell, baseline, sign)
        if not itself:
            yield _share(rows, as_expected(moved, expectation, SMALL * spread), keys, where)
        if expectation.than == perturbation.label and rows.size and spread:
            known = np.isfinite(moved)
            yield average(kinds.LENGTH_EFFECT, unit_means(keys[rows[known]], moved[known]) / spread, **where)


def _moved(part: pl.DataFrame, cell: tuple[str, float | None], baseline: Any, sign: float) -> tuple[Any, Array]:
    """The rows that a change really changed, and by how much their score is above that of the baseline.

    What a scorer gives no score is below everything.
    """
    itself = baseline == cell
    changed = part.filter(same(perturbation=cell[0], level=cell[1]))
    if not itself and baseline[0] is None:
        changed = changed.filter("changed")
    before = part.filter(same(perturbation=baseline[0], level=baseline[1])).select("row", before="score")
    both = changed.join(before, on="row", maintain_order="left").filter(pl.col("before").is_not_nan())
    moved = sign * (both["score"] - both["before"]).to_numpy()
    return both["row"].to_numpy(), np.where(np.isnan(moved), -np.inf, moved)


def as_expected(moved: Array, expectation: Expectation, margin: float) -> Array:
    """Whether each segment's score moved as an ideal scorer's would."""
    if expectation.rule == "below":
        return np.asarray(moved < 0)
    if expectation.rule == "not below":
        return np.asarray(moved >= -margin)
    if expectation.rule == "not above":
        return np.asarray(moved <= margin)
    return np.asarray(np.abs(moved) <= margin)


def _share(rows: Any, met: Array, keys: Keys, where: Mapping[str, Any]) -> Measure:
    """The share of segments as expected; several translations of one segment count as one, by their mean."""
    if not rows.size:
        return Measure(kinds.PITFALL, None, 0, note=UNTOUCHED, **where)
    each = unit_means(keys[rows], met)
    return share(kinds.PITFALL, float(each.sum()), each.size, **where)


def pitfall_findings(run: Run) -> Iterator[Finding]:
    """Per scorer how many pitfalls it passes, and which it fails; the scorer that passes most comes first."""
    yield from sorted(_of_scorers(run), key=lambda finding: -float(finding.facts["passed"]))


def _of_scorers(run: Run) -> Iterator[Finding]:
    results = Results.of(run).whole
    tolerance = run.info.number("tolerance", 5.0)
    rows = results.where(kinds.PITFALL.name)
    for (pair, scorer), mine in apart(rows, "language_pair", "scorer"):
        sorted_out = outcomes(mine, tolerance)
        failed = sorted((row for row, said in sorted_out if said == "fail"), key=lambda row: float(row["value"]))
        said = [outcome for _, outcome in sorted_out if outcome != "not tested"]
        passed = said.count("pass")
        facts: dict[str, float | str] = {"tested": len(said), "passed": passed}
        facts["open"] = len(said) - passed - len(failed)
        about: dict[str, Any] = {"who": scorer, "language_pair": pair, "numbers": tuple(map(Number.of, failed))}
        yield Finding(what="pitfalls", weight="answer", facts=facts, **about)


def outcomes(rows: Iterable[Row], tolerance: float) -> list[tuple[Row, Outcome]]:
    """Rows of shares, each with whether it passes."""
    return [(row, outcome_of(row["value"], row["high"], row["n"], tolerance)) for row in rows]
