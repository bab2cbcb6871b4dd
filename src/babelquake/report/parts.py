"""Where something is weak: a measure on every part of the data that `--by` told apart."""

from collections.abc import Sequence

from babelquake.perturb.labels import label_of
from babelquake.report.table import Table, cell, note_on
from babelquake.runs.results import Row, distinct, values

MOST = 6
"""Systems or scorers that have a column each; of more, the weakest and the strongest are named."""


def parts_table(title: str, rows: Sequence[Row], who: str, said: str, places: int = 1) -> list[Table]:
    """One line per perturbation and part; nothing where no part was measured. `who` is the column of what is tested."""
    rows = [row for row in rows if row["group"] is not None and row["value"] is not None]
    if not rows:
        return []
    names, lines = values(rows, who), []
    for place in distinct(rows, "perturbation", "level", "group"):
        perturbation, level, group = place
        here = [row for row in rows if (row["perturbation"], row["level"], row["group"]) == place]
        begin = (label_of(perturbation, level) if perturbation else "", group, str(max(row["n"] for row in here)))
        if len(names) <= MOST:
            by_name = {row[who]: row for row in here}
            lines.append((*begin, *(cell(by_name.get(name), places) for name in names)))
        else:
            weakest, strongest = (pick(here, key=lambda row: float(row["value"])) for pick in (min, max))
            mean = f"{sum(row['value'] for row in here) / len(here):.{places}f}"
            ends = (weakest[who], cell(weakest, places), strongest[who], cell(strongest, places))
            lines.append((*begin, mean, *ends))
    many = (f"mean {said}", "weakest", said, "strongest", f"{said} ")
    columns = ("perturbation", "part", "n", *(names if len(names) <= MOST else many))
    note = f"{said} on every part of the data, tested apart from the whole. {note_on(rows)}"
    return [Table(title, columns, tuple(lines), note.strip())]
