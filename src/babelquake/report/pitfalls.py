"""Cards of scorers, for several pages: pitfalls – one table for all scorers, one for each, length curves – and how far
judges that are chat models can be trusted.
"""

from typing import Any

import altair as alt

from babelquake.perturb.labels import label_of
from babelquake.report.charts import BAD, GOOD, NEUTRAL, Chart, data, sweeps, tooltips
from babelquake.report.names import results_of, row_label, scorer_text
from babelquake.report.table import Table, crossed, digits, number, of, plain_interval, stars, table_of
from babelquake.runs.info import Expected
from babelquake.runs.measures import Results, Row, apart, values
from babelquake.runs.run import Run
from babelquake.studies.kinds import pitfalls as kinds
from babelquake.studies.pitfalls import SMALL, UNTOUCHED, outcome_of

RULES = {
    "below": "scores it lower",
    "not below": "does not score it lower",
    "not above": "does not score it higher",
    "same": "scores it the same",
}
SHOWN = {"pass": "pass", "fail": "FAIL", "undecided": "undecided", "too few": "too few", "not tested": "–"}


def pitfall_tables(run: Run, results: Results) -> list[Table]:
    """What passes and what fails: all scorers side by side, then each scorer's card with its intervals."""
    tolerance, expected = run.info.number("tolerance", 5.0), run.info.facts.expectations
    rows = results.whole.where(kinds.PITFALL.name)
    note = (
        f"% of segments in which the scorer does what an ideal one would. pass: at least {100 - tolerance:g} %; "
        f"FAIL: the 95 % interval ends below that; undecided: it reaches both sides. The same, not lower and not "
        f"higher allow for {SMALL:g} standard deviations of the scorer's scores of unchanged texts."
    )
    tables = []
    for (pair,), here in apart(rows, "language_pair"):
        tables += _together(here, expected, tolerance, f"Pitfalls{of(pair)}", note)
        scorers = values(here, "scorer")
        for scorer in scorers:
            mine = [row for row in here if row["scorer"] == scorer]
            title = f"Pitfalls of {scorer_text(scorer, scorers)}{of(pair)}"
            tables += _card(mine, expected, tolerance, title)
    return tables


def _together(rows: list[Row], expected: dict[str, Expected], tolerance: float, title: str, note: str) -> list[Table]:
    scorers = values(rows, "scorer")
    missing = f" – not tested: {UNTOUCHED}" if any(row["note"] == UNTOUCHED for row in rows) else ""
    return crossed(
        title,
        rows,
        ("perturbation", "level"),
        {"change": row_label(rows), "an ideal scorer": lambda row: ideal(row, expected)},
        "scorer",
        lambda row: _said(row, tolerance),
        lambda scorer: scorer_text(scorer, scorers),
        note=note + missing,
        spare=("an ideal scorer",),
    )


def _said(row: Row, tolerance: float) -> str:
    share = f" {number(row['value'], 0)}" if row["value"] is not None else ""
    return SHOWN[outcome_of(row["value"], row["high"], row["n"], tolerance)] + share


def _card(rows: list[Row], expected: dict[str, Expected], tolerance: float, title: str) -> list[Table]:
    columns = {
        "change": row_label(rows),
        "an ideal scorer": lambda row: ideal(row, expected),
        "segments": lambda row: str(row["n"] or ""),
        "% as expected": digits("value"),
        "95 % interval": lambda row: "" if row["low"] is None else f"{row['low']:.1f} to {row['high']:.1f}",
        "outcome": lambda row: SHOWN[outcome_of(row["value"], row["high"], row["n"], tolerance)],
    }
    return table_of(title, rows, columns, spare=("an ideal scorer", "95 % interval", "segments"))


def ideal(row: Row, expected: dict[str, Expected]) -> str:
    """What an ideal scorer does of a change: `scores it lower than references in a row (1)`."""
    said = expected.get(row["perturbation"])
    if said is None:
        return ""
    if said.than is None:
        return RULES[said.rule]
    level = row["level"] if said.level is None else said.level
    return f"{RULES[said.rule]} than {label_of(said.than, level)}"


def pitfall_chart(run: Run) -> Chart | None:
    """How many pitfalls every scorer passes, fails, or leaves undecided, the best first."""
    tolerance, results = run.info.number("tolerance", 5.0), results_of(run).whole
    rows = results.where(kinds.PITFALL.name)
    pair = rows[0]["language_pair"] if rows else None
    here = [row for row in rows if row["language_pair"] == pair]
    scorers = values(here, "scorer")
    bars: list[dict[str, Any]] = []
    for scorer in scorers:
        mine = [row for row in here if row["scorer"] == scorer]
        said = [outcome_of(row["value"], row["high"], row["n"], tolerance) for row in mine]
        counts = {"pass": said.count("pass"), "fail": said.count("fail")}
        counts["undecided"] = sum(outcome != "not tested" for outcome in said) - sum(counts.values())
        bars += [
            {
                "name": scorer_text(scorer, scorers),
                "kind": kind,
                "value": count,
                "place": place,
                "first": counts["pass"],
            }
            for place, (kind, count) in enumerate((kind, counts[kind]) for kind in OUTCOMES)
            if count
        ]
    if not bars:
        return None
    bars.sort(key=lambda bar: (-bar["first"], bar["name"]))
    y = alt.Y("name:N", title=None, sort=None, axis=alt.Axis(labelLimit=260))
    base = alt.Chart(data(bars)).encode(y=y, order=alt.Order("place:Q"))
    coloured = alt.Color(
        "kind:N",
        legend=alt.Legend(title=None, orient="top"),
        scale=alt.Scale(domain=list(OUTCOMES), range=list(OUTCOMES.values())),
    )
    marks = base.mark_bar(height={"band": 0.7}).encode(
        x=alt.X("value:Q", title="pitfalls", stack="zero"),
        color=coloured,
        tooltip=tooltips(name="scorer", kind="outcome", value="pitfalls"),
    )
    text = base.mark_text(color="white", fontWeight="bold", dx=-10, align="right").encode(
        x=alt.X("value:Q", stack="zero"), text="value:Q"
    )
    chart = alt.layer(marks, text).properties(height=max(90, 30 * len(scorers)))
    described = "Of the pitfalls that could be tested, how many each scorer passes, leaves undecided and fails."
    return Chart(
        "pitfalls", f"Pitfalls passed{of(pair if len(values(rows, 'language_pair')) > 1 else None)}", described, chart
    )


OUTCOMES = {"pass": GOOD, "undecided": NEUTRAL, "fail": BAD}


def length_charts(results: Results, pair: str | None) -> list[Chart]:
    """The score against the number of concatenated segments, the translation being the reference."""
    rows = results.whole.known(kinds.LENGTH_EFFECT.name, language_pair=pair)
    described = (
        "What happens to each scorer's score when {} grow in number, translation and reference being equal: an ideal "
        "scorer stays at 0. In standard deviations of its scores of unchanged texts, with 95 % intervals."
    )
    return sweeps(rows, "scorer", "length", "Score against length", "change of score (sd)", described)


COLUMNS = {
    "repeat_sd": "asked again, sd",
    "prompt_sd": "other prompts, sd",
    "order_bias": "shown first",
    "parse_failures": "unreadable %",
}


def judge_tables(results: Results) -> list[Table]:
    """Per judge: repeats, prompts, order, answers that could not be read, each with its 95 % interval."""
    rows = results.where(*COLUMNS)
    among, pair = values(rows, "scorer"), "language_pair"
    note = (
        "Points of the score, with 95 % intervals over segments. Shown first: how many of 100 points more a "
        "translation gets when it is the first of two; * p < .05, ** p < .01, *** p < .001."
    )
    return crossed(
        "How far the judge can be trusted",
        rows,
        (pair, "scorer"),
        {"judge": lambda row: f"{scorer_text(row['scorer'], among)}{of(row[pair])}"},
        "measure",
        lambda row: f"{number(row['value'])}{stars(row['p_corrected'])} {plain_interval(row)}".strip(),
        COLUMNS.__getitem__,
        [name for name in COLUMNS if any(row["measure"] == name for row in rows)],
        note,
    )
