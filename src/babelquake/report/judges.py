"""How far judges that are chat models can be trusted: a table for every page with such a judge."""

from babelquake.report.results import scorer_text
from babelquake.report.table import Table, number, stars
from babelquake.runs.results import Results, Row, distinct, values

COLUMNS = {
    "repeat_sd": "asked again, sd",
    "prompt_sd": "other prompts, sd",
    "order_bias": "shown first",
    "parse_failures": "unreadable %",
}


def judge_tables(results: Results) -> list[Table]:
    """Per judge: repeats, prompts, order, answers that could not be read, each with its 95 % interval."""
    rows = results.where(*COLUMNS)
    present = [name for name in COLUMNS if any(row["measure"] == name for row in rows)]
    if not present:
        return []
    among = values(rows, "scorer")
    lines = tuple(
        (
            f"{scorer_text(scorer, among)}{f' · {pair}' if pair else ''}",
            *(_figure(results.one(name, language_pair=pair, scorer=scorer)) for name in present),
        )
        for pair, scorer in distinct(rows, "language_pair", "scorer")
    )
    note = (
        "Points of the score, with 95 % intervals over segments. Shown first: how many of 100 points more a "
        "translation gets when it is the first of two; * p < .05, ** p < .01, *** p < .001."
    )
    return [Table("How far the judge can be trusted", ("judge", *(COLUMNS[name] for name in present)), lines, note)]


def _figure(row: Row | None) -> str:
    if row is None or row["value"] is None:
        return ""
    between = "" if row["low"] is None else f" [{number(row['low'], 1)}, {number(row['high'], 1)}]"
    return number(row["value"], 1) + stars(row["p_corrected"]) + between
