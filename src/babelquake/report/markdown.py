"""GitHub-flavoured Markdown: verdict and tables for a pull request, and a model card with `model-index` metadata."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import yaml

from babelquake.escape import visible
from babelquake.perturb.labels import label_of
from babelquake.report.names import results_of
from babelquake.report.pages import audit_tables, tables
from babelquake.report.table import Table, is_numeric
from babelquake.report.verdict import Sentence, sentences, verdict
from babelquake.runs.info import command_line, signatures
from babelquake.runs.measures import Row
from babelquake.runs.run import AnyRun, Run, opened, run_names
from babelquake.studies.card import STUDIES

SPECIAL = str.maketrans({char: f"\\{char}" for char in r"\`*_{}[]#|~"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"})


def to_markdown(runs: AnyRun | Sequence[AnyRun]) -> str:
    """Verdict, tables, signature and command of every run."""
    given = opened(runs)
    return "\n".join(_run(run, name) for run, name in zip(given, run_names(given), strict=True))


def _run(run: Run, name: str) -> str:
    parts = [f"# {escape(name)}\n"]
    parts += [f"- {_weighed(sentence)}" for sentence in sentences(run)]
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


MEASURES = (
    "overall_quality",
    "overall_quality_perturbed",
    "overall_robust",
    "overall_consis",
    "robust",
    "consis",
    "inconsistent",
    "discrimination",
    "pearson",
    "darr",
)
"""What a card lists, where a run has it."""
TASKS = {"system": "translation", "scorer": "other"}
"""Hugging Face's name of the task, by what is under test."""


def to_model_card(runs: AnyRun | Sequence[AnyRun]) -> str:
    """YAML front matter with one model per system (or scorer), then the verdict and the first tables of every run."""
    given = opened(runs)
    index = [entry for run in given for entry in _models(run)]
    front = yaml.safe_dump({"model-index": index}, allow_unicode=True, sort_keys=False, width=120)
    sections = [f"## Robustness: {run.folder.name}\n\n{_told(run)}" for run in given]
    return f"---\n{front}---\n\n" + "\n".join(sections)


def _told(run: Run) -> str:
    said = "\n".join(f"- {visible(sentence)}" for sentence in verdict(run))
    shown = "\n".join(table_markdown(table).replace("## ", "### ", 1) for table in tables(run)[:2])
    return f"{said}\n\n{shown}"


def _models(run: Run) -> Iterator[dict[str, Any]]:
    results = results_of(run)
    rows = [row for row in results.where(*MEASURES) if row["value"] is not None and row["group"] is None]
    study = STUDIES.get(run.info.study)
    who = study.subject
    data = ", ".join(name.rsplit("#", 1)[0] for name in run.info.listed("data"))
    for name in dict.fromkeys(row[who] for row in rows if row[who]):
        mine = [row for row in rows if row[who] == name]
        yield {
            "name": visible(str(name)),
            "results": [
                {
                    "task": {"type": TASKS[who], "name": f"babelquake {run.info.study}"},
                    "dataset": {"type": "custom", "name": visible(data) or "unnamed"},
                    "metrics": [_metric(row, who, study.label(row["measure"])) for row in mine],
                }
            ],
        }


def _metric(row: Row, who: str, label: str) -> dict[str, Any]:
    other = None if who == "scorer" else row["scorer"]
    noise = label_of(row["perturbation"], row["level"]) if row["perturbation"] else None
    parts = [label, other, noise, row["language_pair"]]
    return {
        "type": row["measure"],
        "name": visible(" · ".join(part for part in parts if part)),
        "value": round(row["value"], 4),
        "verified": False,
    }
