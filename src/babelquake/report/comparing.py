"""Two runs side by side: a table for the terminal and a summary fit for a pull request."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from babelquake.report.markdown import table_lines
from babelquake.report.phrases import with_level
from babelquake.report.results import short_names
from babelquake.report.table import Table, number

if TYPE_CHECKING:
    from babelquake.studies.compare import Change

CORRECTED = {
    "max-t": "corrected by step-down max-T per language pair, scorer and measure",
    "bh": "Benjamini–Hochberg over all rows",
    "none": "uncorrected",
}


def comparison_table(changes: "Sequence[Change]", old: str, new: str, alpha: float, correction: str = "max-t") -> Table:
    """Every compared measure, regressions first."""
    ordered = sorted(changes, key=lambda change: (not change.regression, change.difference))
    short = short_names(change.system for change in changes if change.system)
    rows = tuple(
        (
            ("FELL" if change.difference < 0 else "ROSE") if change.regression else "",
            " ".join(part for part in (change.language_pair, short.get(change.system or "")) if part),
            change.scorer or "",
            " ".join(filter(None, (with_level(change.perturbation or "", change.level), change.group))),
            change.measure,
            number(change.old, 2),
            number(change.new, 2),
            number(change.difference, 2, sign=True),
            f"{change.p_corrected:.3f}" if change.testable and change.p_corrected is not None else "cannot be tested",
        )
        for change in ordered
    )
    columns = ("", "system", "scorer", "perturbation", "measure", old, new, "change", "p (worse)")
    how = "paired tests" if all(change.paired for change in changes) else "tests, normal approximation where unpaired"
    note = f"One-sided {how}, {CORRECTED[correction]}; α = {alpha:g}."
    alone = len({row[1] for row in rows}) == 1
    return Table(f"{new} against {old}", columns, rows, note, spare=("system", old, new) if alone else (old, new))


def comparison_markdown(
    changes: "Sequence[Change]", old: str, new: str, alpha: float, correction: str = "max-t"
) -> str:
    """A verdict in one line, then the table."""
    table = comparison_table(changes, old, new, alpha, correction)
    fallen = sum(change.regression for change in changes)
    untested = sum(not change.testable for change in changes)
    verdict = (
        f"**{fallen} of {len(changes)} measures got significantly worse.**"
        if fallen
        else "**No measure got significantly worse.**"
    )
    verdict += f" {untested} cannot be tested." if untested else ""
    lines = [f"### babelquake: {table.title}", "", verdict, ""]
    return "\n".join([*lines, *table_lines(table), "", table.note, ""])
