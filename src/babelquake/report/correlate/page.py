"""The page of `correlate`: who agrees best with people, by every definition, and whose lead is more than chance."""

from babelquake.report.page import Page
from babelquake.report.results import results_of, statistic_text
from babelquake.report.table import Table, interval, number, of, stars, table_of, text, value_of
from babelquake.runs.results import STATISTICS, Results, values
from babelquake.runs.run import Run


def correlate_tables(run: Run) -> list[Table]:
    """Per language pair: scorers down, definitions across; then every two scorers compared."""
    results = results_of(run)
    tables = []
    for pair in values(results.where(*STATISTICS), "language_pair"):
        here = results.where(*STATISTICS, language_pair=pair)
        measures = [name for name in STATISTICS if any(row["measure"] == name for row in here)]
        lines = tuple(
            (scorer, *(value_of(results.one(name, language_pair=pair, scorer=scorer), 3) for name in measures))
            for scorer in values(here, "scorer")
        )
        names = tuple(map(statistic_text, measures))
        tables.append(Table(f"Agreement with humans{of(pair)}", ("scorer", *names), lines, spare=names[:0:-1]))
    return tables + _differences(results)


def _differences(results: Results) -> list[Table]:
    columns = {
        "language pair": text("language_pair"),
        "scorers": lambda row: f"{row['scorer']} − {row['other']}",
        "agreement": lambda row: statistic_text(row["measure"].removesuffix("_difference")),
        "difference": lambda row: number(row["value"], 3, sign=True) + stars(row["p_corrected"]),
        "95 % interval": lambda row: interval(row, 3),
    }
    note = "* p < .05, ** p < .01, *** p < .001, corrected within language pair and kind of agreement."
    rows = results.where(*(f"{name}_difference" for name in STATISTICS))
    spare = ("language pair", "95 % interval") if len(values(rows, "language_pair")) == 1 else ("95 % interval",)
    return table_of("Differences between scorers", rows, columns, note, spare)


PAGE = Page(correlate_tables)
