"""The page of `correlate`: who agrees best with people, by every definition, and whose lead is more than chance."""

from babelquake.report.page import Page
from babelquake.report.phrases import of_pair, p_text
from babelquake.report.results import STATISTICS, Results, is_significant, scorer_text, statistic_text, values
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
        tables.append(Table(f"Agreement with humans{of(pair)}", ("scorer", *map(statistic_text, measures)), lines))
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
    return table_of("Differences between scorers", rows, columns, note)


def correlate_verdict(run: Run) -> list[str]:
    """Per language pair the scorer that agrees best, and whether that is more than chance."""
    results = Results.of(run)
    measure = next((name for name in STATISTICS if results.where(name)), None)
    if measure is None:
        return []
    pairs = values(results.where(measure), "language_pair")
    sentences = []
    for pair in pairs:
        rows = sorted(results.known(measure, language_pair=pair), key=lambda row: -row["value"])
        if not rows:
            continue
        scorers = values(rows, "scorer")
        best = rows[0]
        said = f"{scorer_text(best['scorer'], scorers)} agrees best with people ({statistic_text(measure)} "
        said += f"{number(best['value'], 3)})"
        if len(rows) > 1:
            second = rows[1]
            said += f", before {scorer_text(second['scorer'], scorers)} ({number(second['value'], 3)})"
            between = {best["scorer"], second["scorer"]}
            found = [
                row
                for row in results.where(f"{measure}_difference", language_pair=pair)
                if {row["scorer"], row["other"]} == between
            ]
            if found:
                said += f", {'more' if is_significant(found[0]) else 'not more'} than chance{p_text(found[0])}"
        sentences.append(of_pair(pair, pairs) + said + ".")
    return sentences


PAGE = Page(correlate_tables, correlate_verdict)
