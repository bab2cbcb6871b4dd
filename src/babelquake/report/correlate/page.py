"""The page of `correlate`: who agrees best with people, by every definition, and whose lead is more than chance."""

from babelquake.report.page import Page
from babelquake.report.phrases import of_pair, p_text
from babelquake.report.results import STATISTICS, Results, is_significant, scorer_text, statistic_text, values
from babelquake.report.table import Table, interval, number, stars
from babelquake.runs.run import Run


def correlate_tables(run: Run) -> list[Table]:
    """Per language pair: scorers down, definitions across; then every two scorers compared."""
    results = Results.of(run)
    tables = []
    for pair in values(results.where(*STATISTICS), "language_pair"):
        here = results.where(*STATISTICS, language_pair=pair)
        measures = [name for name in STATISTICS if any(row["measure"] == name for row in here)]
        lines = tuple(
            (
                scorer,
                *(
                    number(row["value"], 3) if (row := results.one(name, language_pair=pair, scorer=scorer)) else ""
                    for name in measures
                ),
            )
            for scorer in values(here, "scorer")
        )
        title = f"Agreement with humans{' · ' + pair if pair else ''}"
        tables.append(Table(title, ("scorer", *map(statistic_text, measures)), lines))
    return tables + _differences(results)


def _differences(results: Results) -> list[Table]:
    rows = results.where(*(f"{name}_difference" for name in STATISTICS))
    if not rows:
        return []
    lines = tuple(
        (
            row["language_pair"] or "",
            f"{row['scorer']} − {row['other']}",
            statistic_text(row["measure"].removesuffix("_difference")),
            number(row["value"], 3, sign=True) + stars(row["p_corrected"]),
            interval(row, 3),
        )
        for row in rows
    )
    columns = ("language pair", "scorers", "agreement", "difference", "95 % interval")
    note = "* p < .05, ** p < .01, *** p < .001, corrected within language pair and kind of agreement."
    return [Table("Differences between scorers", columns, lines, note)]


def correlate_verdict(run: Run) -> list[str]:
    """Per language pair the scorer that agrees best, and whether that is more than chance."""
    results = Results.of(run)
    measure = next((name for name in STATISTICS if results.has(name)), None)
    if measure is None:
        return []
    pairs = values(results.where(measure), "language_pair")
    sentences = []
    for pair in pairs:
        rows = [row for row in results.where(measure, language_pair=pair) if row["value"] is not None]
        rows.sort(key=lambda row: -row["value"])
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
