"""Results for a model card: Hugging Face `model-index` metadata, and a section of Markdown below it."""

from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from babelquake.escape import visible
from babelquake.perturb.labels import label_of
from babelquake.report.markdown import table_markdown
from babelquake.report.page import tables
from babelquake.report.results import results_of
from babelquake.report.verdict import verdict
from babelquake.runs.results import Row
from babelquake.runs.run import AnyRun, Run, opened
from babelquake.studies.card import STUDIES

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
