"""Two runs side by side: a table for the terminal and a summary fit for a pull request."""

from collections.abc import Sequence
from typing import Protocol

from babelquake.report.table import Table, number


class Compared(Protocol):
    """One measure in two runs, as the comparison study finds it."""

    @property
    def language_pair(self) -> str | None:
        """The language pair, where there is one."""

    @property
    def system(self) -> str | None:
        """The system, where systems are under test."""

    @property
    def scorer(self) -> str | None:
        """The scorer, where the measure has one."""

    @property
    def perturbation(self) -> str | None:
        """The perturbation, where the measure has one."""

    @property
    def level(self) -> float | None:
        """Its level, where it has one."""

    @property
    def measure(self) -> str:
        """The name of the measure."""

    @property
    def old(self) -> float:
        """Its value in the run to compare with."""

    @property
    def new(self) -> float:
        """Its value in the run in question."""

    @property
    def p_corrected(self) -> float | None:
        """The corrected p-value of a fall."""

    @property
    def testable(self) -> bool:
        """Whether any result could have been significant."""

    @property
    def paired(self) -> bool:
        """Whether the same segments were resampled in both runs."""

    @property
    def regression(self) -> bool:
        """Whether it fell significantly and by enough."""


CORRECTED = {
    "max-t": "corrected by step-down max-T per language pair, scorer and measure",
    "bh": "Benjamini–Hochberg over all rows",
    "none": "uncorrected",
}


def comparison_table(changes: Sequence[Compared], old: str, new: str, alpha: float, correction: str = "max-t") -> Table:
    """Every compared measure, regressions first."""
    ordered = sorted(changes, key=lambda change: (not change.regression, change.new - change.old))
    rows = tuple(
        (
            "FELL" if change.regression else "",
            " ".join(part for part in (change.language_pair, change.system) if part),
            change.scorer or "",
            f"{change.perturbation or ''}{'' if change.level is None else f' {change.level:g}'}",
            change.measure,
            number(change.old, 2),
            number(change.new, 2),
            number(change.new - change.old, 2, sign=True),
            f"{change.p_corrected:.3f}" if change.testable and change.p_corrected is not None else "cannot be tested",
        )
        for change in ordered
    )
    columns = ("", "system", "scorer", "perturbation", "measure", old, new, "change", "p (fall)")
    how = "paired tests" if all(change.paired for change in changes) else "tests, normal approximation where unpaired"
    note = f"One-sided {how}, {CORRECTED[correction]}; α = {alpha:g}."
    return Table(f"{new} against {old}", columns, rows, note)


def comparison_markdown(
    changes: Sequence[Compared], old: str, new: str, alpha: float, correction: str = "max-t"
) -> str:
    """A verdict in one line, then the table."""
    table = comparison_table(changes, old, new, alpha, correction)
    fallen = sum(change.regression for change in changes)
    untested = sum(not change.testable for change in changes)
    verdict = (
        f"**{fallen} of {len(changes)} measures fell significantly.**"
        if fallen
        else "**No measure fell significantly.**"
    )
    verdict += f" {untested} cannot be tested." if untested else ""
    lines = [f"### babelquake: {table.title}", "", verdict, ""]
    lines += [_line(table.columns), "|" + " --- |" * len(table.columns), *map(_line, table.rows)]
    return "\n".join([*lines, "", table.note, ""])


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
