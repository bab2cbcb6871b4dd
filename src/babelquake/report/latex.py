"""Tables for a paper: LaTeX with booktabs, in the shapes of the papers they follow."""

from collections.abc import Sequence

import regex

from babelquake.escape import visible
from babelquake.report.pages import tables
from babelquake.report.table import Table, is_numeric, leading_number
from babelquake.runs.info import signatures
from babelquake.runs.run import AnyRun, opened, run_names

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "−": "$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "Δ": r"$\Delta$",
    "τ": r"$\tau$",
    "ρ": r"$\rho$",
    "·": r"$\cdot$",
    "…": r"\ldots{}",
    "–": "--",
    "★": r"$\star$",
    "†": r"\textdagger{}",
    "→": r"$\to$",
    "α": r"$\alpha$",
    "≥": r"$\geq$",
    "⟨": r"$\langle$",
    "⟩": r"$\rangle$",
}
TABLE = str.maketrans(SPECIAL)
LEADING = 2
"""Columns that name a line, not counting what is compared within it."""
WIDE = 7
"""Tables with more columns than this span both columns of a page."""
LINE = 68
"""Characters of small print that fit a line of a page; wider tables are scaled down to it."""
LONG = 48
"""Characters of a cell above which its column breaks into lines."""


INTERVAL = "95 % interval"


def to_latex(runs: AnyRun | Sequence[AnyRun], intervals: bool = False) -> str:
    """Every table of every run; the file is meant for `\\input`. Columns of intervals only if asked for."""
    parts = ["% needs \\usepackage{booktabs,graphicx}; for quotation marks also \\usepackage[T1]{fontenc}"]
    given = opened(runs)

    def kept(table: Table) -> Table:
        return table if intervals or INTERVAL not in table.columns else table.without(INTERVAL)

    for run, called in zip(given, run_names(given), strict=True):
        parts.append(f"\n% {_comment(called)}")
        parts += [f"% {_comment(name)}: {_comment(text)}" for name, text in signatures(run).items()]
        parts += [table_latex(table, f"{called}-{place}") for place, table in enumerate(map(kept, tables(run)), 1)]
    return "\n".join(parts) + "\n"


def table_latex(table: Table, label: str) -> str:
    """One floating table. Values repeated from the line above are left out in the leading columns."""
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    numeric = [is_numeric(column) for column in columns]
    environment = "table*" if len(table.columns) > WIDE else "table"
    body = "\n".join(_lines(table))
    widths = [max(map(len, (head, *column))) for head, column in zip(table.columns, columns, strict=True)]
    kinds = [
        "r" if flush else _paragraph(widths) if width > LONG else "l"
        for flush, width in zip(numeric, widths, strict=True)
    ]
    wide = sum(min(width, LONG) + 2 for width in widths) > LINE
    caption = escape(table.title) + (f". {escape(table.note)}" if table.note else "")
    return "\n".join(
        [
            rf"\begin{{{environment}}}[t]",
            r"\centering\small",
            *([r"\resizebox{\linewidth}{!}{%"] if wide else []),
            rf"\begin{{tabular}}{{{''.join(kinds)}}}",
            r"\toprule",
            " & ".join(escape(name) for name in table.columns) + r" \\",
            r"\midrule",
            body,
            r"\bottomrule",
            r"\end{tabular}" + ("}" if wide else ""),
            rf"\caption{{{caption}}}",
            rf"\label{{tab:{regex.sub(r'[^A-Za-z0-9-]+', '-', label)}}}",
            rf"\end{{{environment}}}",
        ]
    )


def _paragraph(widths: Sequence[int]) -> str:
    """A column that breaks long texts into lines."""
    share = LONG / max(LINE, sum(min(width, LONG) + 2 for width in widths))
    return rf"p{{{share:.2f}\linewidth}}"


def _lines(table: Table) -> list[str]:
    lines: list[str] = []
    best = _best(table)
    above: tuple[str, ...] = ()
    for number, row in enumerate(table.rows):
        same = 0
        while above and same < min(LEADING, len(row) - 1) and row[same] == above[same]:
            same += 1
        if above and same == 0 and grouped(table):
            lines.append(r"\addlinespace")
        cells = (
            rf"\textbf{{{escape(cell)}}}" if (number, place) in best else escape(cell) for place, cell in enumerate(row)
        )
        lines.append(" & ".join("" if place < same else cell for place, cell in enumerate(cells)) + r" \\")
        above = row
    return lines


def _best(table: Table) -> set[tuple[int, int]]:
    """Rows and columns of the best cells: of every group of lines where the first column names groups."""
    found: set[tuple[int, int]] = set()
    groups: dict[str, list[int]] = {}
    for number, row in enumerate(table.rows):
        groups.setdefault(row[0] if grouped(table) else "", []).append(number)
    for name, way in table.better:
        place = table.columns.index(name)
        for numbers in groups.values():
            known = {
                number: value for number in numbers if (value := leading_number(table.rows[number][place])) is not None
            }
            if len(known) > 1:
                best = max(known.values()) if way == "up" else min(known.values())
                found |= {(number, place) for number, value in known.items() if value == best}
    return found


def grouped(table: Table) -> bool:
    """Whether the first column names groups of lines rather than single ones."""
    return len({row[0] for row in table.rows}) < len(table.rows)


def escape(text: str) -> str:
    """Text that LaTeX prints as it is."""
    return visible(" ".join(text.splitlines())).translate(TABLE)


def _comment(text: str) -> str:
    return visible(" ".join(text.splitlines()))
