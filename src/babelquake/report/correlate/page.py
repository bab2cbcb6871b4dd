"""The page of `correlate`: who agrees best with people, by every definition, and whose lead is more than chance."""

from babelquake.report.page import Page
from babelquake.report.phrases import listed, of_pair, than_chance
from babelquake.report.results import STATISTICS, Results, named, statistic_text, values
from babelquake.report.table import Table, interval, number, of, stars, table_of, text, value_of
from babelquake.runs.run import Run


def correlate_tables(run: Run) -> list[Table]:
    """Per language pair: scorers down, definitions across; then every two scorers compared."""
    results = Results.of(run)
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


def correlate_verdict(run: Run) -> list[str]:
    """Per language pair the scorer that agrees best, and whether that is more than chance."""
    results = Results.of(run)
    measure = next((name for name in STATISTICS if results.where(name)), None)
    if measure is None:
        return []
    pairs = values(results.where(measure), "language_pair")
    return [of_pair(pair, pairs) + said for pair in pairs if (said := _leader(results, measure, pair))]


def _leader(results: Results, measure: str, pair: str | None) -> str:
    rows = sorted(results.known(measure, language_pair=pair), key=lambda row: -row["value"])
    if not rows:
        return ""
    names = [*map(named(rows), rows)]
    highest = f"{statistic_text(measure)} {number(rows[0]['value'], 3)}"
    if (tied := sum(row["value"] == rows[0]["value"] for row in rows)) > 1:
        return f"{listed(names[:tied])} agree equally well with people ({highest})."
    said = f"{names[0]} agrees best with people ({highest})"
    if len(rows) > 1:
        said += f", before {names[1]} ({number(rows[1]['value'], 3)})"
        said += than_chance(results.between(measure, "scorer", *values(rows[:2], "scorer"), language_pair=pair))
    return said + "."


PAGE = Page(correlate_tables, correlate_verdict)
