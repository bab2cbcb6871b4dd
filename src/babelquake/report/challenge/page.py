"""The page of `challenge`: which metrics rank better translations above worse ones, and in which category they fail."""

import altair as alt

from babelquake.report.charts import Chart, View, dots, points
from babelquake.report.page import Page
from babelquake.report.results import named, results_of
from babelquake.report.table import Table, number, of, stars, value_of
from babelquake.runs.results import Results, values
from babelquake.runs.run import Run

NOTE = "* p < .05, ** p < .01, *** p < .001 against chance (50 %), corrected within language pair and metric."


def challenge_tables(run: Run) -> list[Table]:
    """Per language pair: metrics from best to worst; then by category; then mean scores of every hypothesis."""
    results = results_of(run)
    found = []
    for pair in values(results.where("detection_accuracy", "sensitivity", "score"), "language_pair"):
        found += [table for table in (_metrics(results, pair), _categories(results, pair)) if table.rows]
        found.append(_scores(results, pair))
    return found


def _metrics(results: Results, pair: str | None) -> Table:
    rows = results.where("detection_accuracy", language_pair=pair, perturbation=None, group=None)
    lines = []
    for row in sorted(rows, key=lambda row: -float(row["value"])):
        first, sensitivity = results.beside(row, "outranks_all"), results.beside(row, "sensitivity")
        lines.append(
            (
                row["scorer"],
                number(first["value"], 1) if first else "",
                f"[{number(first['low'], 1)}, {number(first['high'], 1)}]" if first else "",
                number(row["value"], 1) + stars(row["p_corrected"]),
                value_of(sensitivity, 2),
                f"{row['n']:,}",
            )
        )
    columns = ("metric", "better first, % of sources", "95 % interval", "better above worse, % of pairs", "sd", "pairs")
    return Table(f"Ranks of better translations{of(pair)}", columns, tuple(lines), NOTE, spare=("sd", "95 % interval"))


def _categories(results: Results, pair: str | None) -> Table:
    rows = [row for row in results.where("detection_accuracy", language_pair=pair) if row["perturbation"]]
    scorers = values(rows, "scorer")
    lines = tuple(
        (
            category,
            *(
                number(row["value"], 1) + stars(row["p_corrected"]) if row else ""
                for scorer in scorers
                for row in [results.one("detection_accuracy", language_pair=pair, scorer=scorer, perturbation=category)]
            ),
        )
        for category in values(rows, "perturbation")
    )
    return Table(f"Better above worse by category, % of pairs{of(pair)}", ("category", *scorers), lines, NOTE)


def _scores(results: Results, pair: str | None) -> Table:
    rows = results.where("score", language_pair=pair)
    scorers = values(rows, "scorer")
    places = {
        (row["system"], row["perturbation"]): f"{row['system']} {row['perturbation'] or ''}".strip() for row in rows
    }
    lines = tuple(
        (
            name,
            *(
                value_of(results.one("score", language_pair=pair, scorer=one, system=system, perturbation=category), 3)
                for one in scorers
            ),
        )
        for (system, category), name in places.items()
    )
    return Table(f"Mean scores, higher is better{of(pair)}", ("hypothesis", *scorers), lines)


def challenge_views(run: Run) -> list[View]:
    """Per language pair how often every metric ranks the better translation first, the best metric on top."""
    results = results_of(run)
    views = []
    for pair in values(results.known("outranks_all"), "language_pair"):
        rows = results.known("outranks_all", language_pair=pair, perturbation=None, group=None)
        rows.sort(key=lambda row: -float(row["value"]))
        shown = points(rows, label=named(rows), name=lambda row: "")
        share = alt.Scale(zero=True, nice=True)
        chart = dots(shown, [""], "metric", "% of sources", share, room=260, label="metric", value="% of sources")
        described = "For how many sources the better translation scores above every worse one, with 95 % intervals."
        views.append(View(pair or "all", [Chart("ranks", f"Better translation first{of(pair)}", described, chart)]))
    return views


PAGE = Page(challenge_tables, challenge_views)
