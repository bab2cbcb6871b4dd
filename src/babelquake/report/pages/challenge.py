"""The page of `challenge`: which metrics rank better translations above worse ones, and in which category they fail."""

import altair as alt

from babelquake.report.charts import Chart, View, dots, points
from babelquake.report.names import named, results_of
from babelquake.report.pages import Page
from babelquake.report.table import (
    Shown,
    Table,
    crossed,
    digits,
    number,
    of,
    plain_interval,
    stars,
    table_of,
    text,
    value_of,
)
from babelquake.runs.measures import Results, Row, largest_first, values
from babelquake.runs.run import Run

NOTE = (
    "* p < .05, ** p < .01, *** p < .001 against winning and losing equally often (equal scores are neither), "
    "corrected within language pair and metric."
)


def challenge_tables(run: Run) -> list[Table]:
    """Per language pair: metrics from best to worst; then by category; then mean scores of every hypothesis."""
    results = results_of(run)
    found = []
    for pair in values(results.where("detection_accuracy", "sensitivity", "score"), "language_pair"):
        found += [*_metrics(results, pair), *_categories(results, pair), *_scores(results, pair)]
    return found


def _metrics(results: Results, pair: str | None) -> list[Table]:
    rows = results.where("detection_accuracy", language_pair=pair, perturbation=None, group=None)
    columns = {
        "metric": text("scorer"),
        "better first, % of sources": lambda row: value_of(results.beside(row, "outranks_all")),
        "95 % interval": lambda row: plain_interval(results.beside(row, "outranks_all")),
        "better above worse, % of pairs": _starred,
        "sd": lambda row: value_of(results.beside(row, "sensitivity"), 2),
        "pairs": lambda row: f"{row['n']:,}",
    }
    title = f"Ranks of better translations{of(pair)}"
    return table_of(title, largest_first(rows), columns, NOTE, ("sd", "95 % interval"))


def _starred(row: Row) -> str:
    return number(row["value"], 1) + stars(row["p_corrected"])


def _categories(results: Results, pair: str | None) -> list[Table]:
    rows = [row for row in results.where("detection_accuracy", language_pair=pair, group=None) if row["perturbation"]]
    rows = [row | {"category": row["perturbation"]} for row in rows]
    return _crossed(f"Better above worse by category, % of pairs{of(pair)}", rows, "category", _starred, NOTE)


def _scores(results: Results, pair: str | None) -> list[Table]:
    rows = results.where("score", language_pair=pair)
    named = [row | {"hypothesis": f"{row['system']} {row['perturbation'] or ''}".strip()} for row in rows]
    return _crossed(f"Mean scores, higher is better{of(pair)}", named, "hypothesis", digits("value", 3))


def _crossed(title: str, rows: list[Row], what: str, shown: Shown, note: str = "") -> list[Table]:
    """Metrics and categories or hypotheses: whatever there are more of goes down, so that the table stays narrow."""
    rows = [row | {"metric": row["scorer"]} for row in rows]
    down, across = sorted(("metric", what), key=lambda name: -len(values(rows, name)))
    return crossed(title, rows, (down,), {down: text(down)}, across, shown, note=note)


def challenge_views(run: Run) -> list[View]:
    """Per language pair how often every metric ranks the better translation first, the best metric on top."""
    results = results_of(run)
    views = []
    for pair in values(results.known("outranks_all"), "language_pair"):
        rows = largest_first(results.known("outranks_all", language_pair=pair, perturbation=None, group=None))
        shown = points(rows, label=named(rows), name=lambda row: "")
        share = alt.Scale(zero=True, nice=True)
        chart = dots(shown, [""], "metric", "% of sources", share, room=260, label="metric", value="% of sources")
        described = "For how many sources the better translation scores above every worse one, with 95 % intervals."
        views.append(View(pair or "all", [Chart("ranks", f"Better translation first{of(pair)}", described, chart)]))
    return views


PAGE = Page(challenge_tables, challenge_views)
