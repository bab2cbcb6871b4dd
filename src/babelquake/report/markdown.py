"""Tables and verdict in GitHub-flavoured Markdown, fit for a pull request."""

from collections.abc import Iterable, Sequence

from babelquake.escape import visible
from babelquake.report.page import audit_tables, tables
from babelquake.report.table import Table, is_numeric
from babelquake.report.verdict import Sentence, told
from babelquake.runs.command import command_line, signatures
from babelquake.runs.run import AnyRun, Run, opened, run_names

SPECIAL = str.maketrans({char: f"\\{char}" for char in r"\`*_{}[]#|~"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"})


def to_markdown(runs: AnyRun | Sequence[AnyRun]) -> str:
    """Verdict, tables, signature and command of every run."""
    given = opened(runs)
    return "\n".join(_run(run, name) for run, name in zip(given, run_names(given), strict=True))


def _run(run: Run, name: str) -> str:
    parts = [f"# {escape(name)}\n"]
    parts += [f"- {_weighed(sentence)}" for sentence in told(run)]
    for table in [*tables(run), *audit_tables(run)]:
        parts.append("\n" + table_markdown(table))
    parts += [f"> {escape(note)}\n" for note in run.info.notes]
    fenced = "\n".join([command_line(run), *(visible(f"# {name}: {text}") for name, text in signatures(run).items())])
    fence = "```"
    while fence in fenced:
        fence += "`"
    parts.append(f"How to reproduce:\n\n{fence}sh\n{fenced}\n{fence}\n")
    return "\n".join(parts)


def _weighed(sentence: Sentence) -> str:
    """An alarm stands out."""
    return f"**{escape(sentence.text)}**" if sentence.weight == "alarm" else escape(sentence.text)


def table_markdown(table: Table) -> str:
    """One table with its title and note."""
    note = f"\n{escape(table.note)}\n" if table.note else ""
    return f"## {escape(table.title)}\n\n" + "\n".join(table_lines(table)) + "\n" + note


def table_lines(table: Table) -> list[str]:
    """The table alone."""
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    rule = ["---:" if is_numeric(column) else "---" for column in columns]
    return [_line(map(escape, table.columns)), _line(rule), *(_line(map(escape, row)) for row in table.rows)]


def escape(text: str) -> str:
    """Text that Markdown and HTML leave alone, on one line."""
    return visible(" ".join(text.splitlines())).translate(SPECIAL)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
