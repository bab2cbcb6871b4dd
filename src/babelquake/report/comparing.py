"""Two runs side by side: a table for the terminal and a summary fit for a pull request."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from babelquake.report.markdown import escape, table_lines
from babelquake.report.phrases import labelled
from babelquake.report.results import short_names
from babelquake.report.table import Table, number
from babelquake.report.verdict import RATES, in_words, measure_called
from babelquake.stats.pvalues import p_words

if TYPE_CHECKING:
    from babelquake.studies.comparison import Change, Comparison

CORRECTED = {
    "max-t": "corrected by step-down max-T over the whole comparison",
    "bh": "Benjamini–Hochberg over the whole comparison",
    "none": "uncorrected",
}
ORDER = ("collapsed", "worse", "better", "cannot be tested", "same")
MARKS = {"collapsed": "GONE", "worse": "WORSE", "better": "better", "cannot be tested": "too few", "same": ""}


def comparison_table(comparison: "Comparison", old: str, new: str) -> Table:
    """Every measure that changed: what collapsed, then what got worse and better, what could not be tested, the rest.

    Measures that are the same to the last digit shown are counted below the table.
    """
    changed = [change for change in comparison if change.outcome != "same" or _shown(change.difference) != _shown(0.0)]
    table = _table(f"{new} against {old}", changed, comparison, old, new)
    if folded := len(comparison) - len(changed):
        counted = f"{folded} of {len(comparison)} measures are unchanged and not listed."
        table = replace(table, note=f"{counted} {table.note}")
    return table


def comparison_tables(comparison: "Comparison", old: str, new: str) -> list[Table]:
    """Two tables: what changed or could not be tested, and all that did not change significantly."""
    parts = {
        f"{new} against {old}: what changed": [change for change in comparison if change.outcome != "same"],
        "Not significantly different": [change for change in comparison if change.outcome == "same"],
    }
    return [_table(title, part, comparison, old, new) for title, part in parts.items() if part]


def _table(title: str, changes: Sequence["Change"], comparison: "Comparison", old: str, new: str) -> Table:
    changed = sorted(
        changes, key=lambda change: (ORDER.index(change.outcome), _p(change), -abs(change.difference or 0.0))
    )
    short = short_names(change.system for change in comparison if change.system)
    named = labelled(change.perturbation for change in comparison)
    rows = tuple(
        (
            f"({MARKS[change.outcome]})" if comparison.hollow(change) else MARKS[change.outcome],
            " ".join(part for part in (change.language_pair, short.get(change.system or "")) if part),
            "" if change.measure in RATES else change.scorer or "",
            " ".join(filter(None, (named(change.perturbation, change.level), change.group))),
            measure_called(change.measure, change.scorer, change.called),
            number(change.old, 2),
            number(change.new, 2),
            _shown(change.difference),
            number(change.visible, 2),
            p_words(change.p_corrected).removeprefix("p = ").removeprefix("p ")
            if change.testable and change.p_corrected is not None
            else "",
        )
        for change in changed
    )
    columns = ("", "system", "scorer", "perturbation", "measure", old, new, "change", "visible", "p")
    paired = all(change.paired for change in comparison)
    how = "paired tests" if paired else "tests, normal approximation where unpaired"
    note = (
        f"Two-sided {how}, {CORRECTED[comparison.correction]}; α = {comparison.alpha:g}. "
        "Visible: the smallest difference that would have been significant; empty where too few segments differ."
    )
    if any(map(comparison.hollow, changed)):
        note += " (better): only relative to a quality that got worse."
    alone = len({row[1] for row in rows}) <= 1
    return Table(title, columns, rows, note, spare=("system", old, new) if alone else (old, new))


def comparison_markdown(comparison: "Comparison", old: str, new: str) -> str:
    """The verdict, then the table."""
    table = comparison_table(comparison, old, new)
    first, *others = (sentence.text for sentence in in_words(comparison.findings))
    lines = [f"### babelquake: {table.title}", "", f"**{escape(first)}**", ""]
    lines += [*(f"- {escape(sentence)}" for sentence in others), *([""] if others else [])]
    return "\n".join([*lines, *(table_lines(table) if table.rows else []), "", table.note, ""])


def _shown(difference: float | None) -> str:
    return number(difference, 2, sign=True)


def _p(change: "Change") -> float:
    return 1.0 if change.p_corrected is None else change.p_corrected
