"""How far judges that are chat models can be trusted: a table for every page with such a judge."""

from babelquake.report.results import scorer_text
from babelquake.report.table import Table, crossed, number, of, plain_interval, stars
from babelquake.runs.results import Results, values

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
